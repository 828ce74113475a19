import { Store } from "../state/store";

/** Whether the server knows us, and whether it can be reached at all. */
export type Auth = "unknown" | "in" | "out";

export const auth = new Store<Auth>("unknown");
/** True from the first failed attempt until something answers again. */
export const offline = new Store(false);
