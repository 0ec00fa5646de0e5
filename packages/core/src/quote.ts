/** UTF-16 units of a text that a message shows. Escaped in JSON and in UTF-8 they take less than 1 KB. */
const MAX_SHOWN = 160

/** Shortens a text for an error message. */
export function clip(text: string, most = MAX_SHOWN): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`
}

/** Puts a text in quotes, as JSON does, and shortens it for an error message: at most 1 KB. */
export function quote(text: string): string {
  return JSON.stringify(clip(text))
}
