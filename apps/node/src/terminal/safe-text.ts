/** Characters that a terminal obeys, or that reverse the order of a text, except line ends and tabs. */
const OBEYED = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu

/** A text that may quote strangers, such as a source or a file, as it may be shown. */
export function safeText(text: string): string {
  return text.replaceAll(OBEYED, ' ')
}
