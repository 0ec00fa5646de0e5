/** The text that this browser keeps under a name; null if it keeps none, or nothing at all. */
export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

/** Has this browser keep a text under a name. It may refuse to: then what was chosen lasts as long as the page. */
export function writeStored(name: string, text: string): void {
  try {
    localStorage.setItem(name, text)
  } catch {
    // As above.
  }
}
