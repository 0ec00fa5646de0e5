import { useState } from 'preact/hooks'
import { type ApiRequest, requestPath } from '../api/client.ts'

/** The request behind a view, to copy. */
export function ForPrograms({ requests }: { readonly requests: readonly ApiRequest[] }) {
  return (
    <details class="for-programs">
      <summary>For programs</summary>
      {requests.map((request) => (
        <CopyLine key={requestPath(request)} text={toCurl(request)} />
      ))}
    </details>
  )
}

function toCurl(request: ApiRequest): string {
  const url = `'${window.location.origin}${requestPath(request).replaceAll("'", '%27')}'`
  if (request.body === undefined) return `curl ${url}`
  return `curl ${url} -H 'content-type: application/json' -d '${request.body.replaceAll("'", "'\\''")}'`
}

export function CopyLine({ text }: { readonly text: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
  }
  return (
    <div class="copy-line">
      <code>{text}</code>
      <button type="button" onClick={() => void copy()}>
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </div>
  )
}
