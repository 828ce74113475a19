import { act, fireEvent, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { ReactNode } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ChatCommands } from "../src/chat/commands";
import { Composer } from "../src/chat/Composer";
import { ChatContext } from "../src/chat/context";
import { ItemView } from "../src/chat/ItemView";
import { Options, UsageMeter } from "../src/chat/Options";
import { Queue } from "../src/chat/Queue";
import { Requests } from "../src/chat/Requests";
import type { AgentRequest } from "../src/wire/types";
import { chatState } from "./samples";

const names = ["prompt", "cancel", "answer", "edit", "moveUp", "remove", "sendNow", "resumeQueue", "clearQueue", "configure", "permissionMode"] as const;
const commands = Object.fromEntries(names.map((name) => [name, vi.fn()])) as { [K in keyof ChatCommands]: ReturnType<typeof vi.fn> };
let works = true;
const run = async (action: () => Promise<unknown>) => {
  await action();
  return works;
};
const show = (node: ReactNode) => render(<ChatContext value={{ commands: commands as unknown as ChatCommands, run }}>{node}</ChatContext>);
const busy = { id: "t1", startedAt: new Date().toISOString() };

beforeEach(() => {
  vi.clearAllMocks();
  works = true;
});

describe("the composer", () => {
  const field = () => screen.getByLabelText<HTMLTextAreaElement>("Message");

  it("Enter sends, Shift+Enter is a new line", async () => {
    show(<Composer id="s" state={chatState()} />);
    await userEvent.type(field(), "one{Shift>}{Enter}{/Shift}two{Enter}");
    expect(commands.prompt).toHaveBeenCalledExactlyOnceWith("one\ntwo", "auto");
    expect(field().value).toBe("");
  });

  it("Enter that ends an input method's composition does not send", () => {
    show(<Composer id="s" state={chatState()} />);
    fireEvent.change(field(), { target: { value: "にほん" } });
    fireEvent.keyDown(field(), { key: "Enter", isComposing: true });
    expect(commands.prompt).not.toHaveBeenCalled();
  });

  it("keeps what could not be sent", async () => {
    works = false;
    show(<Composer id="s" state={chatState()} />);
    await userEvent.type(field(), "precious{Enter}");
    expect(field().value).toBe("precious");
  });

  it("has room for the next text while one is on its way, and gives back what did not arrive", async () => {
    let arrive = () => {};
    commands.prompt.mockImplementationOnce(() => new Promise<void>((resolve) => void (arrive = resolve)));
    works = false;
    show(<Composer id="s" state={chatState()} />);
    await userEvent.type(field(), "first{Enter}");
    expect(field().value).toBe("");
    await userEvent.type(field(), "second{Enter}");
    expect(commands.prompt).toHaveBeenCalledTimes(1);
    expect(sessionStorage.getItem("hybridmux.draft.s")).toBe("first\nsecond");
    await act(async () => arrive());
    expect(field().value).toBe("first\nsecond");
  });

  it("forgets a draft that arrived after the composer had gone", async () => {
    let arrive = () => {};
    commands.prompt.mockImplementationOnce(() => new Promise<void>((resolve) => void (arrive = resolve)));
    const { unmount } = show(<Composer id="s" state={chatState()} />);
    await userEvent.type(field(), "only once{Enter}");
    unmount();
    await act(async () => arrive());
    show(<Composer id="s" state={chatState()} />);
    expect(field().value).toBe("");
  });

  it("keeps what is typed over a reload", async () => {
    const first = show(<Composer id="s" state={chatState()} />);
    await userEvent.type(field(), "unsent");
    first.unmount();
    show(<Composer id="s" state={chatState()} />);
    expect(field().value).toBe("unsent");
    first.unmount();
  });

  it("sends nothing when there is nothing to send", async () => {
    show(<Composer id="s" state={chatState()} />);
    await userEvent.type(field(), "  {Enter}");
    expect(commands.prompt).not.toHaveBeenCalled();
  });

  it("queues and stops while a turn runs; steers only where the agent can", async () => {
    const { unmount } = show(<Composer id="s" state={chatState({ turn: busy })} />);
    expect(screen.queryByRole("button", { name: "Send into this turn" })).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Stop" }));
    await userEvent.click(screen.getByRole("button", { name: "Stopping…" }));
    expect(commands.cancel).toHaveBeenCalledTimes(2);
    unmount();
    show(<Composer id="s" state={chatState({ turn: busy, steering: true })} />);
    await userEvent.type(field(), "left");
    await userEvent.click(screen.getByRole("button", { name: "Send into this turn" }));
    expect(commands.prompt).toHaveBeenCalledWith("left", "steer");
  });

  it("shows what has been used, with its price once there is one", () => {
    const { rerender } = show(<UsageMeter usage={{ used: 1000, size: 200_000, cost: 0 }} />);
    expect(screen.getByText("1k of 200k tokens")).toBeTruthy();
    rerender(<UsageMeter usage={{ used: 1000, cost: 0.126, currency: "USD" }} />);
    expect(screen.getByText("1k tokens · 0.13 USD")).toBeTruthy();
  });

  it("completes slash commands by key", async () => {
    const list = [{ name: "review", description: "Review" }, { name: "compact", description: "Compact" }];
    show(<Composer id="s" state={chatState({ commands: list })} />);
    await userEvent.type(field(), "/{ArrowDown}{Enter}");
    expect(field().value).toBe("/compact ");
    expect(commands.prompt).not.toHaveBeenCalled();
    await userEvent.type(field(), "now{Enter}");
    expect(commands.prompt).toHaveBeenCalledWith("/compact now", "auto");
  });
});

describe("permission requests", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const press = (digit: string) => act(async () => void fireEvent.keyDown(window, { key: digit, code: `Digit${digit}` }));
  const click = (name: RegExp | string) => act(async () => void fireEvent.click(screen.getByRole("button", { name })));
  /** The card takes keys a moment after it came. */
  const arm = () => act(() => void vi.advanceTimersByTime(400));

  const request = (id: string, change: Partial<AgentRequest> = {}): AgentRequest => ({
    requestId: id, kind: "permission", title: `may I ${id}`,
    options: [{ optionId: "yes", name: "Allow", kind: "allow_once" }, { optionId: "no", name: "Reject", kind: "reject_once" }], ...change,
  });

  it("are answered by number, once", async () => {
    show(<Requests requests={[request("r1")]} />);
    await press("1");
    expect(commands.answer).not.toHaveBeenCalled();
    arm();
    await press("2");
    await press("1");
    expect(commands.answer).toHaveBeenCalledExactlyOnceWith("r1", { outcome: "selected", optionId: "no" });
  });

  it("the first one has the keys", async () => {
    show(<Requests requests={[request("r1"), request("r2")]} />);
    arm();
    await press("1");
    expect(commands.answer.mock.calls.map(([id]) => id as string)).toEqual(["r1"]);
  });

  it("a digit typed into a text is text; with Alt it is an answer", () => {
    show(<><input aria-label="text" /><Requests requests={[request("r1")]} /></>);
    arm();
    const text = screen.getByLabelText("text");
    fireEvent.keyDown(text, { key: "1", code: "Digit1" });
    expect(commands.answer).not.toHaveBeenCalled();
    fireEvent.keyDown(text, { key: "1", code: "Digit1", altKey: true });
    expect(commands.answer).toHaveBeenCalledTimes(1);
  });

  it("a number without an option answers nothing, nor does a held key", () => {
    show(<Requests requests={[request("r1")]} />);
    arm();
    fireEvent.keyDown(window, { key: "3", code: "Digit3" });
    fireEvent.keyDown(window, { key: "1", code: "Digit1", repeat: true });
    expect(commands.answer).not.toHaveBeenCalled();
  });

  it("can be tried again when the answer did not arrive", async () => {
    works = false;
    show(<Requests requests={[request("r1")]} />);
    await click(/Allow/);
    await click(/Allow/);
    expect(commands.answer).toHaveBeenCalledTimes(2);
  });

  it("without any option can be cancelled", async () => {
    show(<Requests requests={[request("r1", { options: [] })]} />);
    await click("Cancel this request");
    expect(commands.answer).toHaveBeenCalledWith("r1", { outcome: "cancelled" });
  });

  it("that come in the middle of a sentence leave the focus where it is", () => {
    show(<><textarea aria-label="text" defaultValue="half a sent" /><Requests requests={[]} /></>);
    const text = screen.getByLabelText("text");
    text.focus();
    show(<Requests requests={[request("r1")]} />);
    expect(document.activeElement).toBe(text);
  });

  it("that come before the message was acknowledged take the focus and the keys", async () => {
    commands.prompt.mockImplementationOnce(() => new Promise(() => {}));
    const composer = <Composer id="s" state={chatState()} />;
    const { rerender } = show(composer);
    const text = screen.getByLabelText("Message");
    text.focus();
    fireEvent.change(text, { target: { value: "run it" } });
    fireEvent.keyDown(text, { key: "Enter" });
    rerender(<ChatContext value={{ commands: commands as unknown as ChatCommands, run }}>{composer}<Requests requests={[request("r1")]} /></ChatContext>);
    expect(document.activeElement).toBe(screen.getByRole("group"));
  });

  it("that come while a choice has the focus take it", () => {
    show(<select aria-label="mode"><option>ask</option></select>);
    screen.getByLabelText("mode").focus();
    show(<Requests requests={[request("r1")]} />);
    expect(document.activeElement).toBe(screen.getByRole("group"));
  });

  it("that come when nothing has been typed take the focus", () => {
    show(<textarea aria-label="text" />);
    screen.getByLabelText("text").focus();
    show(<Requests requests={[request("r1")]} />);
    expect(document.activeElement).toBe(screen.getByRole("group"));
  });

  it("give the focus back to the composer", () => {
    const field = <Composer id="s" state={chatState()} />;
    const { rerender } = show(<>{field}<Requests requests={[request("r1")]} /></>);
    expect(document.activeElement).toBe(screen.getByRole("group"));
    rerender(<ChatContext value={{ commands: commands as unknown as ChatCommands, run }}>{field}<Requests requests={[]} /></ChatContext>);
    expect(document.activeElement).toBe(screen.getByLabelText("Message"));
  });

  it("forms are filled in and sent", async () => {
    const schema = { properties: { name: { type: "string", title: "Name" } }, required: ["name"] };
    show(<Requests requests={[request("f1", { kind: "form", schema })]} />);
    fireEvent.change(screen.getByLabelText(/Name/), { target: { value: "x" } });
    await click("Send");
    expect(commands.answer).toHaveBeenCalledWith("f1", { outcome: "accept", content: { name: "x" } });
  });
});

describe("the queue", () => {
  const queue = { paused: true, items: [{ id: "q1", text: "first", attachments: [] }, { id: "q2", text: "second", attachments: [] }] };

  it("is moved, edited, sent and removed", async () => {
    show(<Queue queue={queue} />);
    for (const name of ["Move up: second", "Send now: first", "Remove: second", "Continue", "Clear"]) await userEvent.click(screen.getByRole("button", { name }));
    expect(commands.moveUp).toHaveBeenCalledWith("q2");
    expect(commands.sendNow).toHaveBeenCalledWith("q1");
    expect(commands.remove).toHaveBeenCalledWith("q2");
    expect(commands.resumeQueue).toHaveBeenCalled();
    expect(commands.clearQueue).toHaveBeenCalled();
    await userEvent.click(screen.getByRole("button", { name: "Edit: first" }));
    await userEvent.type(screen.getByLabelText("Queued message"), " changed");
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    expect(commands.edit).toHaveBeenCalledWith("q1", "first changed");
  });
});

describe("options", () => {
  it("are the agent's own, with the permission mode", async () => {
    const model = { id: "model", name: "Model", type: "select" as const, value: "a", choices: [{ value: "a", name: "A" }, { value: "b", name: "B" }] };
    const fast = { id: "fast", name: "Fast", type: "boolean" as const, value: false };
    show(<Options state={chatState({ configOptions: [model, fast] })} />);
    await userEvent.selectOptions(screen.getByLabelText("Model"), "b");
    await userEvent.click(screen.getByLabelText("Fast"));
    await userEvent.selectOptions(screen.getByLabelText("Permissions"), "auto");
    expect(commands.configure.mock.calls.map(([option, value]) => [(option as { id: string }).id, value as unknown])).toEqual([["model", "b"], ["fast", true]]);
    expect(commands.permissionMode).toHaveBeenCalledWith("auto");
  });
});

describe("items", () => {
  it("of a kind that is not known yet are left out", () => {
    const { container } = render(<ItemView item={{ kind: "hologram" } as never} />);
    expect(container.innerHTML).toBe("");
  });

  it("a tool shows its output, cut by lines until asked", async () => {
    const text = Array.from({ length: 30 }, (_, i) => `row ${i}`).join("\n");
    render(<ItemView item={{ kind: "tool", role: "agent", id: "t", title: "seq", toolKind: "execute", status: "completed", output: { text } }} />);
    expect(screen.queryByText(/row 29/)).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Show 14 more lines" }));
    expect(screen.getByText(/row 29/)).toBeTruthy();
  });

  it("a turn that failed says so", () => {
    render(<ItemView item={{ kind: "turn", role: "agent", id: "t1", startedAt: "2026-01-01T10:00:00Z", endedAt: "2026-01-01T10:00:05Z", stopReason: "error", error: "the connector ended" }} />);
    expect(screen.getByText("5 s · the turn failed · the connector ended")).toBeTruthy();
  });
});
