/** The fields of an elicitation's schema (flat objects of simple types), and its answer. Pure. */
export interface Field {
  name: string;
  label: string;
  description?: string;
  required: boolean;
  kind: "text" | "number" | "integer" | "boolean" | "choice" | "choices";
  choices: { value: string; label: string }[];
  initial: string | boolean | string[];
}
export type Values = Record<string, string | boolean | string[]>;

type Schema = Record<string, unknown>;
const object = (value: unknown): Schema => (typeof value === "object" && value !== null ? (value as Schema) : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

function choicesOf(schema: Schema): Field["choices"] {
  const names = list(schema.enumNames);
  const plain = list(schema.enum).map((value, index) => ({ value: String(value), label: text(names[index]) ?? String(value) }));
  const titled = [...list(schema.oneOf), ...list(schema.anyOf)]
    .map(object)
    .filter((one) => "const" in one)
    .map((one) => ({ value: String(one.const), label: text(one.title) ?? String(one.const) }));
  return [...plain, ...titled];
}

function kindOf(schema: Schema, choices: Field["choices"]): Field["kind"] {
  if (schema.type === "array") return "choices";
  if (choices.length > 0) return "choice";
  return schema.type === "boolean" || schema.type === "number" || schema.type === "integer" ? schema.type : "text";
}

function initialOf(kind: Field["kind"], value: unknown): Field["initial"] {
  if (kind === "boolean") return value === true;
  if (kind === "choices") return list(value).map(String);
  return value === undefined || value === null ? "" : String(value);
}

export function fieldsOf(schema: unknown): Field[] {
  const whole = object(schema);
  const required = list(whole.required);
  return Object.entries(object(whole.properties)).map(([name, raw]) => {
    const one = object(raw);
    const choices = choicesOf(one.type === "array" ? object(one.items) : one);
    const kind = kindOf(one, choices);
    return {
      name, kind, choices,
      label: text(one.title) ?? name,
      description: text(one.description),
      required: required.includes(name),
      initial: initialOf(kind, one.default),
    };
  });
}

/** What is sent: empty optional fields are left out, numbers are numbers. */
export function contentOf(fields: readonly Field[], values: Values): Record<string, unknown> {
  const content: Record<string, unknown> = {};
  for (const { name, kind, required } of fields) {
    const value = values[name];
    if (value === undefined || (value === "" && !required)) continue;
    content[name] = kind === "number" || kind === "integer" ? Number(value) : value;
  }
  return content;
}
