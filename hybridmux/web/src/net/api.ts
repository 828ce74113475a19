import type { ErrorBody } from "../wire/types";
import { requestId } from "./ids";
import { auth, offline } from "./link";

/** An answer that is not 2xx, or none at all (`status` 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly body: ErrorBody,
  ) {
    super(body.error);
  }

  get reason(): string | undefined {
    return this.body.reason;
  }
}

const RETRIES = 3;
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

async function errorOf(response: Response): Promise<ApiError> {
  let body: ErrorBody = { error: `${response.status} ${response.statusText}`.trim() };
  try {
    const parsed: unknown = await response.json();
    if (typeof parsed === "object" && parsed && "error" in parsed) body = parsed as ErrorBody;
  } catch {
    /* not JSON: the status line says enough */
  }
  return new ApiError(response.status, body);
}

/** No answer, or one that broke off. */
function unanswered(): ApiError {
  offline.set(true);
  return new ApiError(0, { error: "" });
}

/** One request; no answer at all becomes status 0. */
async function once(method: string, path: string, body?: unknown): Promise<Response> {
  const form = body instanceof FormData;
  try {
    const response = await fetch(path, {
      method,
      credentials: "same-origin",
      headers: body === undefined || form ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : form ? body : JSON.stringify(body),
    });
    offline.set(false);
    return response;
  } catch {
    throw unanswered();
  }
}

async function read<T>(response: Response): Promise<T> {
  if (!response.ok) {
    if (response.status === 401) auth.set("out");
    throw await errorOf(response);
  }
  if (response.status === 204) return undefined as T;
  try {
    return (await response.json()) as T;
  } catch {
    throw unanswered();
  }
}

export async function call<T = void>(method: string, path: string, body?: unknown): Promise<T> {
  return read<T>(await once(method, path, body));
}

/**
 * A state-changing chat, switch or resume request. It is repeated when no answer came: the server
 * recognises the id, so that a repeat gets the first answer and runs nothing twice.
 */
export async function command<T = void>(method: string, path: string, body: object = {}): Promise<T> {
  const named = { ...body, clientRequestId: requestId() };
  for (let attempt = 0; ; attempt++) {
    try {
      return await call<T>(method, path, named);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 0 || attempt >= RETRIES) throw error;
      await pause(400 * 2 ** attempt);
    }
  }
}

export const path = (...parts: string[]): string => "/api/" + parts.map(encodeURIComponent).join("/");
