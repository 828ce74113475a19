import { useEffect, useRef, useState } from "react";
import { t } from "../strings";
import { cause } from "../ui/trouble";
import type { Attachment } from "../wire/types";

export interface Chosen {
  key: number;
  name: string;
  size: number;
  /** A picture of it, for images. */
  preview: string | null;
  uploaded: Attachment | null;
}

const MIB = 1024 * 1024;
const ONE_FILE = 10 * MIB;
const ALL_FILES = 20 * MIB;
const MOST = 8;

/** Why these files cannot go along, checked before anything is sent; null when they can. */
export function refusal(have: readonly { size: number }[], more: readonly { name: string; size: number }[]): string | null {
  const big = more.find((file) => file.size > ONE_FILE);
  if (big) return t.chat.tooBig(big.name);
  if (have.length + more.length > MOST) return t.chat.tooMany;
  const all = [...have, ...more].reduce((sum, file) => sum + file.size, 0);
  return all > ALL_FILES ? t.chat.tooMuch : null;
}

let keys = 0;

/** Files chosen for the next message: they are uploaded at once, so that sending does not wait. */
export function useFiles(upload: (file: File) => Promise<Attachment>, trouble: (text: string) => void) {
  const [files, setFiles] = useState<Chosen[]>([]);
  const previews = useRef(new Set<string>());
  useEffect(() => {
    const made = previews.current;
    return () => made.forEach((url) => URL.revokeObjectURL(url));
  }, []);

  const drop = (key: number) => setFiles((old) => old.filter((file) => file.key !== key));
  const send = async (file: File, chosen: Chosen) => {
    try {
      const uploaded = await upload(file);
      setFiles((old) => old.map((each) => (each.key === chosen.key ? { ...each, uploaded } : each)));
    } catch (error) {
      drop(chosen.key);
      trouble(`${file.name}: ${cause(error)}`);
    }
  };
  const add = (more: File[]) => {
    const refused = refusal(files, more);
    if (refused !== null) return trouble(refused);
    for (const file of more) {
      const preview = file.type.startsWith("image/") ? URL.createObjectURL(file) : null;
      if (preview) previews.current.add(preview);
      const chosen: Chosen = { key: keys++, name: file.name || "image", size: file.size, preview, uploaded: null };
      setFiles((old) => [...old, chosen]);
      void send(file, chosen);
    }
  };
  const clear = () => setFiles([]);
  return { files, add, drop, clear };
}
