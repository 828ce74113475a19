import { Store } from "./store";

export type Route = { at: "home" } | { at: "session"; id: string };

export function parseRoute(hash: string): Route {
  const match = /^#\/s\/([^/?&]+)$/.exec(hash);
  return match?.[1] ? { at: "session", id: decodeURIComponent(match[1]) } : { at: "home" };
}

export const hrefOf = (route: Route): string =>
  route.at === "home" ? "#/" : `#/s/${encodeURIComponent(route.id)}`;

export const route = new Store<Route>(parseRoute(location.hash));

export function go(to: Route): void {
  location.hash = hrefOf(to);
}

export function followRoute(): () => void {
  const changed = () => route.set(parseRoute(location.hash));
  window.addEventListener("hashchange", changed);
  changed();
  return () => window.removeEventListener("hashchange", changed);
}
