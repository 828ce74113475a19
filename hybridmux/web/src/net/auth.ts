import { ApiError, call } from "./api";
import { auth } from "./link";

/** The token of a start-up link `…/#token=…`, or null. */
export function tokenIn(hash: string): string | null {
  if (!hash.startsWith("#")) return null;
  return new URLSearchParams(hash.slice(1)).get("token") || null;
}

/** The token leaves the address (and the history) before anything else happens with it. */
export function takeToken(): string | null {
  const token = tokenIn(location.hash);
  if (token !== null) history.replaceState(null, "", location.pathname + location.search);
  return token;
}

/** Trades the token for the cookie. Throws ApiError: 401 wrong token, 429 too many attempts. */
export async function login(token: string): Promise<void> {
  await call("POST", "/api/login", { token });
  auth.set("in");
}

/** Asks once whether we are known; sets `auth`, and leaves it alone when nothing answers. */
export async function probe(): Promise<void> {
  try {
    await call<unknown>("GET", "/api/sessions");
    auth.set("in");
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status !== 0 && error.status !== 401) auth.set("in");
  }
}

export async function start(): Promise<void> {
  const token = takeToken();
  if (token !== null) {
    try {
      await login(token);
      return;
    } catch (error) {
      // A stale link with a good cookie still gets in; otherwise the form asks.
      if (!(error instanceof ApiError)) throw error;
    }
  }
  await probe();
}
