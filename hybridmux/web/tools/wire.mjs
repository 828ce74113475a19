// Makes the TypeScript types of the wire from the server's own OpenAPI document.
// They go below node_modules because they are generated: nothing of it is committed.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";

const page = dirname(dirname(fileURLToPath(import.meta.url)));
const root = dirname(dirname(page));
const venv = join(root, ".venv", "bin", "python");
const python = process.env.PYTHON ?? (existsSync(venv) ? venv : "python3");

const document = JSON.parse(execFileSync(python, ["-m", "hybridmux.wire.openapi"], { cwd: root, encoding: "utf8" }));
const types = astToString(await openapiTS(document));
mkdirSync(join(page, "node_modules", ".wire"), { recursive: true });
writeFileSync(join(page, "node_modules", ".wire", "schema.d.ts"), types);
