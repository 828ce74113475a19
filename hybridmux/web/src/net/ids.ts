const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

/** A new `clientRequestId`: 22 characters, 132 random bits. `randomUUID` is missing on plain http. */
export function requestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(22));
  return Array.from(bytes, (byte) => ALPHABET[byte & 63]).join("");
}
