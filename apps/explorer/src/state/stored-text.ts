/** The text that this browser keeps under a name; null if it keeps none. */
export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

/** Keeps a text under a name in this browser. The browser may refuse; then a choice lasts as long as the page. */
export function writeStored(name: string, text: string): void {
  try {
    localStorage.setItem(name, text)
  } catch {
    // The browser refuses to keep texts.
  }
}
