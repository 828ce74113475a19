import { useState, type FormEvent } from "react";
import { ApiError } from "./net/api";
import { login, tokenIn } from "./net/auth";
import { t } from "./strings";
import { cause } from "./ui/trouble";

/** A whole start-up link is as good as the token in it. */
const tokenOf = (text: string): string => tokenIn(text.slice(Math.max(0, text.indexOf("#")))) ?? text.trim();

export function Login() {
  const [text, setText] = useState("");
  const [trouble, setTrouble] = useState<string | null>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    try {
      await login(tokenOf(text));
    } catch (error) {
      const wrong = error instanceof ApiError && error.status === 401;
      setTrouble(wrong ? t.login.wrong : cause(error));
    }
  };
  return (
    <main className="login">
      <form className="card" onSubmit={(event) => void submit(event)}>
        <h1>{t.app}</h1>
        <p>{t.login.hint}</p>
        <label>
          {t.login.token}
          <input type="password" autoComplete="current-password" autoFocus required value={text} onChange={(event) => setText(event.target.value)} />
        </label>
        {trouble && <p className="bad" role="alert">{trouble}</p>}
        <button type="submit" className="button primary">{t.login.go}</button>
      </form>
    </main>
  );
}
