import { t } from "../strings";
import { count } from "../ui/format";
import type { ChatState, ConfigOption, PermissionMode, Usage } from "../wire/types";
import { useChat } from "./context";

/** What the agent lets one choose, and who answers its questions. */
export function Options({ state }: { state: ChatState }) {
  const { commands, run } = useChat();
  const mode = (value: string) => void run(() => commands.permissionMode(value as PermissionMode));
  return (
    <div className="options">
      <label className="option">
        <span>{t.permission.mode}</span>
        <select value={state.permissionMode} onChange={(event) => mode(event.target.value)}>
          <option value="ask">{t.permission.ask}</option>
          <option value="auto">{t.permission.auto}</option>
        </select>
      </label>
      {state.configOptions.map((option) => <Option key={option.id} option={option} />)}
    </div>
  );
}

function Option({ option }: { option: ConfigOption }) {
  const { commands, run } = useChat();
  const set = (value: string | boolean) => void run(() => commands.configure(option, value));
  return (
    <label className="option" title={option.description}>
      <span>{option.name}</span>
      {option.type === "boolean" ? (
        <input type="checkbox" checked={option.value === true} onChange={(event) => set(event.target.checked)} />
      ) : (
        <select value={String(option.value ?? "")} onChange={(event) => set(event.target.value)}>
          {(option.choices ?? []).map((choice) => (
            <option key={choice.value} value={choice.value} title={choice.description}>{choice.name}</option>
          ))}
        </select>
      )}
    </label>
  );
}

/** A price that rounds to nothing is none. */
const WORTH_SAYING = 0.005;

export function UsageMeter({ usage }: { usage: Usage }) {
  const { used, size, cost, currency } = usage;
  const price = cost === undefined || cost < WORTH_SAYING ? "" : `${cost.toFixed(2)} ${currency ?? ""}`.trim();
  if (used === undefined) return price ? <span className="usage">{price}</span> : null;
  const words = size ? t.usage.of(count(used), count(size)) : t.usage.tokens(count(used));
  return (
    <span className="usage" title={t.usage.label}>
      {size !== undefined && size > 0 && <meter min={0} max={size} high={size * 0.85} value={Math.min(used, size)} aria-label={t.usage.label} />}
      {words} {price && `· ${price}`}
    </span>
  );
}
