/**
 * Answers that a terminal gives by itself: device attributes, status and mode reports, colours, strings.
 * With several viewers only the one that owns the size may answer, or the program gets each answer twice.
 */
// eslint-disable-next-line no-control-regex
const REPLY = /^(?:\x1b\[[?>=]?[\d;]*(?:c|n|\$y|t)|\x1b\[\??\d+;\d+(?:;\d+)?R|\x1b[P\]_][^\x07\x1b]*(?:\x07|\x1b\\))+$/;

export const isReply = (data: string): boolean => REPLY.test(data);

/** What Ctrl and a character make together; other text stays as it is. */
export function withCtrl(data: string): string {
  const code = data.length === 1 ? data.toUpperCase().charCodeAt(0) : 0;
  return code >= 0x40 && code <= 0x5f ? String.fromCharCode(code & 0x1f) : data === " " ? "\0" : data;
}

const PIECE = 32 * 1024;

/** Bytes in frames of at most 32 KiB. */
export function* pieces(bytes: Uint8Array<ArrayBuffer>): Generator<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}
