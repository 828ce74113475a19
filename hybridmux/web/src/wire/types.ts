/** Short names for the generated types of the contract; nothing about the wire is typed by hand here. */
import type { components } from "@wire";

type Schemas = components["schemas"];

export type SessionInfo = Schemas["SessionInfo"];
export type HybridInfo = Schemas["HybridInfo"];
export type HybridRecord = Schemas["HybridRecord"];
export type LaunchConfig = Schemas["LaunchConfig"];
export type ConnectorInfo = Schemas["ConnectorInfo"];
export type Candidate = Schemas["Candidate"];
export type ErrorBody = Schemas["ErrorBody"];
export type SwitchResult = Schemas["SwitchResult"];
export type SwitchRequest = Schemas["SwitchRequest"];
export type ResumeRequest = Schemas["ResumeRequest"];
export type CreateSession = Schemas["CreateSession"];
export type PromptBody = Schemas["PromptBody"];
export type PromptAnswer = Schemas["PromptAnswer"];
export type RequestAnswer = Schemas["RequestAnswer"];
export type QueueEdit = Schemas["QueueEdit"];
export type ConfigBody = Schemas["ConfigBody"];

export type ChatState = Schemas["ChatState"];
export type ChatEvent = Schemas["ChatEvent"];
export type Content = Schemas["Content"];
export type AgentRequest = Schemas["AgentRequest"];
export type ConfigOption = Schemas["ConfigOption"];
export type Command = Schemas["Command"];
export type QueueItem = Schemas["QueueItem"];
export type Attachment = Schemas["Attachment"];
export type PlanEntry = Schemas["PlanEntry"];
export type Usage = Schemas["Usage"];
export type Turn = Schemas["Turn"];
export type Eligibility = Schemas["Eligibility"];

export type Place = SwitchResult["side"];
export type Side = HybridInfo["side"];
export type Phase = NonNullable<HybridInfo["phase"]>;
export type Choice = NonNullable<SwitchRequest["choice"]>;
export type PermissionMode = ChatState["permissionMode"];

export type EventsFrame =
  | Schemas["EventsSnapshot"]
  | Schemas["SessionSet"]
  | Schemas["RecordSet"]
  | Schemas["Removed"];
export type ChatFrame = Schemas["ChatSnapshot"] | Schemas["ChatEvents"] | Schemas["ChatStateFrame"];
export type Hello = Schemas["Hello"];
export type TerminalFrame =
  | Hello
  | Schemas["Live"]
  | Schemas["Resized"]
  | Schemas["Titled"]
  | Schemas["Exited"]
  | Schemas["Pong"];
export type TerminalCommand = Schemas["ClientResize"] | Schemas["ClientAck"] | Schemas["ClientPing"];
