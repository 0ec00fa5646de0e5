import { useState } from 'preact/hooks'

/** A button that copies a text. If the browser gives no clipboard, as without TLS, it says so. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [state, setState] = useState<'new' | 'copied' | 'refused'>('new')
  const copy = async (): Promise<void> => {
    const written = navigator.clipboard?.writeText(text)
    if (written === undefined) return setState('refused')
    await written.then(
      () => setState('copied'),
      () => setState('refused'),
    )
  }
  return (
    <button type="button" class="copy" aria-label={`Copy ${what}`} onClick={() => void copy()}>
      {state === 'new' ? 'Copy' : state === 'copied' ? 'Copied' : 'Select it to copy'}
    </button>
  )
}
