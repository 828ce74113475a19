/** Copies text; also on plain http, where the clipboard API does not exist. */
export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard && window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      /* refused: the old way may still work */
    }
  }
  return copyBySelection(text);
}

function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  const focused = document.activeElement;
  area.value = text;
  area.className = "offscreen";
  area.readOnly = true;
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}
