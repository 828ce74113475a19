/** What jsdom has not: dialogs, media queries and the observers. */
import { cleanup } from "@testing-library/react";
import { afterEach } from "vitest";

class Observer {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
  takeRecords(): [] {
    return [];
  }
}

Object.assign(window, {
  ResizeObserver: Observer,
  IntersectionObserver: Observer,
  matchMedia: (media: string) => ({ media, matches: false, addEventListener() {}, removeEventListener() {} }),
});
HTMLDialogElement.prototype.showModal = function () {
  this.open = true;
};
HTMLDialogElement.prototype.close = function () {
  this.open = false;
};

afterEach(() => {
  cleanup();
  sessionStorage.clear();
});
