import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { ChoiceDialog, RefusalDialog } from "../src/session/dialogs";
import { Leftovers } from "../src/session/Leftovers";
import { SideControl } from "../src/session/SideControl";
import { hybrid } from "./samples";

const connector = { executable: "demo-acp", title: "Demo ACP", installCommand: "npm install -g demo-acp", docsUrl: "https://example.org" };

describe("the side control", () => {
  const set = (props: Partial<Parameters<typeof SideControl>[0]> = {}) => {
    const onSwitch = vi.fn();
    render(<SideControl hybrid={hybrid()} eligibility={{ available: true }} from="tui" onSwitch={onSwitch} onChoose={vi.fn()} {...props} />);
    return onSwitch;
  };
  const chat = () => screen.getByRole("radio", { name: "Chat" });

  it("moves to the other side only", async () => {
    const onSwitch = set();
    await userEvent.click(screen.getByRole("radio", { name: "Terminal" }));
    expect(onSwitch).not.toHaveBeenCalled();
    await userEvent.click(chat());
    expect(onSwitch).toHaveBeenCalledExactlyOnceWith("acp");
  });

  it("shows the phase while it moves and takes no press", async () => {
    const onSwitch = set({ hybrid: hybrid({ side: "switching", phase: "rolling_back" }) });
    expect(screen.getByRole("status").textContent).toContain("going back");
    await userEvent.click(chat());
    expect(onSwitch).not.toHaveBeenCalled();
  });

  it("says why, with the command that installs a missing connector", async () => {
    const onSwitch = set({ eligibility: { available: false, reason: "connector_missing", connector } });
    await userEvent.click(chat());
    expect(onSwitch).not.toHaveBeenCalled();
    expect(screen.getByText(connector.installCommand)).toBeTruthy();
    expect(screen.getByRole("button", { name: "Copy install command" })).toBeTruthy();
  });

  it("asks the server when only a choice is missing", async () => {
    const onSwitch = set({ eligibility: { available: false, reason: "session_ambiguous" } });
    await userEvent.click(chat());
    expect(onSwitch).toHaveBeenCalledWith("acp");
  });

  it("lets the agent itself be asked where nothing could be seen from outside", async () => {
    const onSwitch = set({ eligibility: { available: false, reason: "no_session_id" } });
    await userEvent.click(chat());
    expect(onSwitch).not.toHaveBeenCalled();
    await userEvent.click(screen.getByRole("button", { name: "Ask the agent" }));
    expect(onSwitch).toHaveBeenCalledExactlyOnceWith("acp");
  });

  const unheard = "brand_new_reason" as "switching";
  it.each([
    [{ reason: "occupied_external", text: "the server's words" } as const, "Another program holds this conversation open."],
    [{ reason: unheard, text: "the server's words" }, "the server's words"],
    [{ reason: unheard }, "brand new reason"],
  ])("says %o in its own words, else in the server's, else as it is", async (eligibility, shown) => {
    set({ eligibility: { available: false, ...eligibility } });
    await userEvent.click(chat());
    expect(screen.getByText(shown)).toBeTruthy();
  });
});

describe("dialogs", () => {
  it("a choice says what force loses, in the agent's own words", async () => {
    const onChoice = vi.fn();
    render(<ChoiceDialog note="Background shells may go on." onChoice={onChoice} onClose={vi.fn()} />);
    expect(screen.getByText("Background shells may go on.")).toBeTruthy();
    for (const name of ["Wait longer", "Force the switch", "Stay in the terminal"]) await userEvent.click(screen.getByRole("button", { name }));
    expect(onChoice.mock.calls).toEqual([["wait"], ["force"], ["cancel"]]);
  });

  it("Enter never forces", () => {
    render(<ChoiceDialog note={null} onChoice={vi.fn()} onClose={vi.fn()} />);
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "Wait longer" }));
  });

  it("candidates are named by title and time, and one is picked", async () => {
    const onRetry = vi.fn();
    const candidates = [{ agentSessionId: "x1", title: "Fix it", updatedAt: null }, { agentSessionId: "x2", title: "", updatedAt: null }];
    render(<RefusalDialog refusal={{ ask: "candidates", gone: false, candidates }} onRetry={onRetry} onClose={vi.fn()} />);
    expect(screen.getByText("Untitled")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: /Fix it/ }));
    expect(onRetry).toHaveBeenCalledWith({ agentSessionId: "x1" });
  });

  it("a gone config is confirmed", async () => {
    const onRetry = vi.fn();
    render(<RefusalDialog refusal={{ ask: "config" }} onRetry={onRetry} onClose={vi.fn()} />);
    await userEvent.click(screen.getByRole("button", { name: "Resume without" }));
    expect(onRetry).toHaveBeenCalledWith({ confirmWithoutEnv: true });
  });
});

describe("what a switch leaves", () => {
  it("is nothing when nothing was left", () => {
    const { container } = render(<Leftovers result={{ side: "tui", dropped: [], unsupported: [] }} onInsert={vi.fn()} onDismiss={vi.fn()} />);
    expect(container.innerHTML).toBe("");
  });

  it("is the draft, to copy or to put in, and the arguments", async () => {
    const onInsert = vi.fn();
    render(<Leftovers result={{ side: "tui", draft: "one\n\ntwo", dropped: ["--fast"], unsupported: [] }} onInsert={onInsert} onDismiss={vi.fn()} />);
    expect(screen.getByText("--fast")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Copy" })).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Put into the terminal" }));
    expect(onInsert).toHaveBeenCalledWith("one\n\ntwo");
  });
});
