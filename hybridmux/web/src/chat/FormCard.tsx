import { useId, useState, type FormEvent } from "react";
import { t } from "../strings";
import type { AgentRequest } from "../wire/types";
import { useChat } from "./context";
import { contentOf, fieldsOf, type Field, type Values } from "./form";

/** A question with fields to fill in. */
export function FormCard({ request }: { request: AgentRequest }) {
  const { commands, run } = useChat();
  const fields = fieldsOf(request.schema);
  const [values, setValues] = useState<Values>(() => Object.fromEntries(fields.map((field) => [field.name, field.initial])));
  const [sent, setSent] = useState(false);
  const answer = async (outcome: "accept" | "decline" | "cancel") => {
    setSent(true);
    const body = outcome === "accept" ? { outcome, content: contentOf(fields, values) } : { outcome };
    if (!(await run(() => commands.answer(request.requestId, body)))) setSent(false);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void answer("accept");
  };
  return (
    <form className="card request" aria-label={request.title} onSubmit={submit}>
      <p className="card-title" role="alert">
        <strong>{t.permission.title}</strong> {request.title}
      </p>
      {fields.map((field) => (
        <Input
          key={field.name}
          field={field}
          value={values[field.name] ?? ""}
          onChange={(value) => setValues((old) => ({ ...old, [field.name]: value }))}
        />
      ))}
      <div className="card-actions">
        <button type="submit" className="button primary" disabled={sent}>{t.form.send}</button>
        <button type="button" className="button" disabled={sent} onClick={() => void answer("decline")}>{t.form.decline}</button>
        <button type="button" className="button" disabled={sent} onClick={() => void answer("cancel")}>{t.cancel}</button>
      </div>
    </form>
  );
}

interface InputProps {
  field: Field;
  value: string | boolean | string[];
  onChange: (value: string | boolean | string[]) => void;
}

function Input({ field, value, onChange }: InputProps) {
  const id = useId();
  const { kind, choices, required } = field;
  return (
    <div className="field">
      <label htmlFor={id}>
        {field.label} {required && kind !== "boolean" && <small>{t.form.required}</small>}
      </label>
      {kind === "boolean" ? (
        <input id={id} type="checkbox" checked={value === true} onChange={(event) => onChange(event.target.checked)} />
      ) : kind === "choice" ? (
        <select id={id} value={String(value)} required={required} onChange={(event) => onChange(event.target.value)}>
          <option value="" disabled={required} />
          {choices.map((choice) => <option key={choice.value} value={choice.value}>{choice.label}</option>)}
        </select>
      ) : kind === "choices" ? (
        <select id={id} multiple value={value as string[]} onChange={(event) => onChange(Array.from(event.target.selectedOptions, (one) => one.value))}>
          {choices.map((choice) => <option key={choice.value} value={choice.value}>{choice.label}</option>)}
        </select>
      ) : (
        <input
          id={id}
          type={kind === "text" ? "text" : "number"}
          step={kind === "integer" ? 1 : "any"}
          value={String(value)}
          required={required}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      {field.description && <small>{field.description}</small>}
    </div>
  );
}
