import { parseTypeTag, typeTagToText } from '@ledger-state/type-tag'

/** Whether a text is the canonical one of a type. Answers spell function types in another way, without abilities. */
export function isTypeText(said: string, type: string): boolean {
  const canonical = (text: string) => typeTagToText(parseTypeTag(text))
  if (said === canonical(type)) return true
  try {
    return said.includes('|') && canonical(said) === canonical(type)
  } catch {
    return false
  }
}
