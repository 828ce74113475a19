import { command, path } from "../net/api";
import type { ConfigOption, PermissionMode, PromptAnswer, RequestAnswer } from "../wire/types";

type Answer = Omit<RequestAnswer, "clientRequestId">;

/** The commands of one chat (page section "Chat commands"); each throws ApiError. */
export interface ChatCommands {
  prompt(text: string, mode: "auto" | "steer"): Promise<PromptAnswer>;
  cancel(): Promise<void>;
  answer(requestId: string, answer: Answer): Promise<void>;
  edit(item: string, text: string): Promise<void>;
  moveUp(item: string): Promise<void>;
  remove(item: string): Promise<void>;
  sendNow(item: string): Promise<void>;
  resumeQueue(): Promise<void>;
  clearQueue(): Promise<void>;
  configure(option: ConfigOption, value: string | boolean): Promise<void>;
  permissionMode(mode: PermissionMode): Promise<void>;
}

export function commandsOf(id: string): ChatCommands {
  const at = (...parts: string[]) => path("sessions", id, "chat", ...parts);
  return {
    prompt: (text, mode) => command("POST", at("prompts"), { text, mode }),
    cancel: () => command("POST", at("cancel")),
    answer: (requestId, answer) => command("POST", at("requests", requestId), answer),
    edit: (item, text) => command("PATCH", at("queue", item), { text }),
    moveUp: (item) => command("PATCH", at("queue", item), { move: "up" }),
    remove: (item) => command("DELETE", at("queue", item)),
    sendNow: (item) => command("POST", at("queue", item, "send-now")),
    resumeQueue: () => command("POST", at("queue", "resume")),
    clearQueue: () => command("POST", at("queue", "clear")),
    configure: (option, value) =>
      command("PUT", at("config", option.id), typeof value === "boolean" ? { enabled: value } : { value }),
    permissionMode: (mode) => command("PUT", at("permission-mode"), { mode }),
  };
}
