// eslint-disable-next-line no-control-regex
const SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])/g;

/** Output of a program without its escape sequences; of a line drawn over with `\r` the last drawing stays. */
export const withoutColours = (text: string): string =>
  text.replace(SEQUENCE, "").replace(/\r\n/g, "\n").replace(/^.*\r(?!$)/gm, "").replace(/\r/g, "");
