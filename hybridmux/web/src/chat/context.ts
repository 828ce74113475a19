import { createContext, useContext } from "react";
import type { ChatCommands } from "./commands";

interface ChatContext {
  commands: ChatCommands;
  /** Runs a command; what goes wrong is shown as the session's banner. True when it worked. */
  run: (action: () => Promise<unknown>) => Promise<boolean>;
}

export const ChatContext = createContext<ChatContext | null>(null);

export function useChat(): ChatContext {
  const context = useContext(ChatContext);
  if (!context) throw new Error("useChat outside a session");
  return context;
}
