import { useEffect } from "react";
import { Home } from "./home/Home";
import { Login } from "./Login";
import { start, takeToken, login } from "./net/auth";
import { auth, offline } from "./net/link";
import { SessionScreen } from "./session/SessionScreen";
import { followEvents } from "./state/events";
import { followRoute, route } from "./state/route";
import { useStore } from "./state/store";
import { t } from "./strings";

const RETRY_MS = 2_000;

/** Asks who we are until something answers; a start-up link pasted into an open tab logs in as well. */
function useLogin(known: boolean): void {
  useEffect(() => {
    const pasted = () => {
      const token = takeToken();
      if (token !== null) void login(token).catch(() => undefined);
    };
    window.addEventListener("hashchange", pasted);
    return () => window.removeEventListener("hashchange", pasted);
  }, []);
  useEffect(() => {
    if (known) return;
    void start();
    const timer = setInterval(() => void start(), RETRY_MS);
    return () => clearInterval(timer);
  }, [known]);
}

export function App() {
  const who = useStore(auth);
  const at = useStore(route);
  const away = useStore(offline);
  useLogin(who !== "unknown");
  useEffect(() => (who === "in" ? followEvents() : undefined), [who]);
  useEffect(followRoute, []);
  return (
    <>
      {away && <p className="offline" role="status">{t.offline}</p>}
      {who === "out" && <Login />}
      {who === "in" && (at.at === "home" ? <Home /> : <SessionScreen key={at.id} id={at.id} />)}
    </>
  );
}
