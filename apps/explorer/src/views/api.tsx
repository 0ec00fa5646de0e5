import { bytesToHex } from '@ledger-state/core'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type ApiRequest, send } from '../api/client.ts'
import { type OpenApiDocument, type Operation, operationsOf, toRequest } from '../api/open-api.ts'
import { toCurl } from '../api/program-lines.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import { CopyLine } from '../components/for-programs.tsx'
import { Loading } from '../components/loading.tsx'
import { useAnswer } from '../state/use-answer.ts'

/** Every operation of the API, each with a form that sends it. */
export function ApiView({ operation }: { readonly operation: string | undefined }) {
  const answer = useAnswer<OpenApiDocument>({ path: '/spec.json' })
  const operations = answer && 'value' in answer ? operationsOf(answer.value) : []
  const tags = [...new Set(operations.map(({ tag }) => tag))]
  return (
    <>
      <h1>API</h1>
      <p class="subtitle">
        Each operation with an example to send. The document for programs is <a href="/v1/spec.json">/v1/spec.json</a>.
      </p>
      {answer === undefined && <Loading />}
      {answer && 'failure' in answer && <FailureNotice failure={answer.failure} />}
      {tags.map((tag) => (
        <section key={tag} aria-label={tag}>
          <h2>{tag}</h2>
          {operations
            .filter((one) => one.tag === tag)
            .map((one) => (
              <OperationCard key={one.id} operation={one} isOpen={one.id === operation} />
            ))}
        </section>
      ))}
    </>
  )
}

function OperationCard({ operation, isOpen }: { readonly operation: Operation; readonly isOpen: boolean }) {
  const [wasOpened, setOpened] = useState(isOpen)
  return (
    <details class="card" open={isOpen} onToggle={(event) => event.currentTarget.open && setOpened(true)}>
      <summary>
        <span class="method">{operation.method}</span> <code>/v1{operation.path}</code>{' '}
        <small>{operation.summary}</small>
      </summary>
      <p>{operation.description}</p>
      <p>
        <a href={`/api/${operation.id}`}>Link to this operation</a>
      </p>
      {wasOpened && <OperationForm operation={operation} />}
    </details>
  )
}

interface Sent {
  readonly status: string
  readonly text: string
}

/** Length at which answers are cut. Longer ones are for programs. */
const SHOWN_CHARACTERS = 20_000

function OperationForm({ operation }: { readonly operation: Operation }) {
  const [written, setWritten] = useState(operation.example.parameters)
  const [body, setBody] = useState(operation.example.body)
  const [sent, setSent] = useState<Sent | undefined>(undefined)
  const control = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => control.current?.abort(), [])
  const request = toRequest(operation, written, body)
  const curl = toCurl(window.location.origin, request)
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        control.current?.abort()
        control.current = new AbortController()
        const { signal } = control.current
        void sendRequest(request, signal, (next) => !signal.aborted && setSent(next))
      }}
    >
      {operation.parameters.map(({ name, description, isRequired }) => (
        <label key={name}>
          <span>
            <code>{name}</code>
            {isRequired && ' (required)'}: {description}
          </span>
          <input
            type="text"
            required={isRequired}
            autocomplete="off"
            value={written[name] ?? ''}
            onInput={(event) => setWritten({ ...written, [name]: event.currentTarget.value })}
          />
        </label>
      ))}
      {operation.method === 'POST' && (
        <label>
          Body, as JSON
          <textarea value={body} onInput={(event) => setBody(event.currentTarget.value)} />
        </label>
      )}
      <button type="submit">Send</button>
      <CopyLine text={operation.answersBytes ? `${curl} | od -c` : curl} />
      {sent && (
        <div role="status">
          <strong>{sent.status}</strong>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
          <pre class="answer" tabIndex={0}>
            {sent.text}
          </pre>
        </div>
      )}
    </form>
  )
}

/** Most operations answer in both formats, and some only in BCS. */
const ACCEPT = 'application/json, application/x-bcs'

/** Sends a request, and shows its answer: a stream as it comes, and all others as a whole. */
async function sendRequest(request: ApiRequest, signal: AbortSignal, show: (sent: Sent) => void): Promise<void> {
  try {
    const response = await send({ ...request, accept: ACCEPT }, signal)
    const status = `${response.status} ${response.statusText}`
    const type = response.headers.get('content-type')
    if (type?.startsWith('text/event-stream')) {
      await readStream(response, (text) => show({ status, text }))
      return
    }
    const isBytes = type === 'application/x-bcs'
    const text = isBytes ? bytesToHex(new Uint8Array(await response.arrayBuffer())) : await response.text()
    const rest = text.length - SHOWN_CHARACTERS
    show({ status, text: rest > 0 ? `${text.slice(0, SHOWN_CHARACTERS)}… and ${rest} characters more` : text })
  } catch {
    show({ status: 'The node does not answer', text: '' })
  }
}

/** Reads the beginning of a stream. It ends with the longest wait for an answer, which is no fault of a stream. */
async function readStream({ body }: Response, show: (text: string) => void): Promise<void> {
  const reader = body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  show(text)
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      text += decoder.decode(read.value, { stream: true })
      show(text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text)
      if (text.length > SHOWN_CHARACTERS) break
    }
    await reader.cancel()
  } catch {
    show(`${text}… This page no longer listens.`)
  }
}
