/** An event of a stream of Server-Sent Events. */
export interface ServerSentEvent {
  readonly id: string | undefined
  /** Name of the event; `message` if it has none. */
  readonly event: string
  /** Empty for an event that only has an id. */
  readonly data: string
}

/** A client of an event stream. */
export interface EventStream {
  readonly status: number
  readonly headers: Headers
  /** The next event; undefined at the end of the stream. */
  next(): Promise<ServerSentEvent | undefined>
  /** The body of an answer that is no stream. */
  text(): Promise<string>
  close(): void
}

/** Opens an event stream. */
export async function openEventStream(url: string, lastEventId?: string): Promise<EventStream> {
  const leaving = new AbortController()
  const headers = lastEventId === undefined ? undefined : { 'last-event-id': lastEventId }
  const answer = await fetch(url, { signal: leaving.signal, ...(headers && { headers }) })
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  async function more(): Promise<boolean> {
    try {
      const { done, value } = await reader.read()
      text += value ?? ''
      return !done
    } catch {
      // The server, or this client, has closed the connection.
      return false
    }
  }
  return {
    status: answer.status,
    headers: answer.headers,
    async next() {
      for (;;) {
        const end = text.indexOf('\n\n')
        if (end >= 0) {
          const event = parseEvent(text.slice(0, end))
          text = text.slice(end + 2)
          return event
        }
        if (!(await more())) return undefined
      }
    },
    async text() {
      while (await more());
      return text
    },
    close: () => leaving.abort(),
  }
}

function parseEvent(text: string): ServerSentEvent {
  const fields = new Map(
    text.split('\n').flatMap((line) => {
      const at = line.indexOf(': ')
      return at < 1 ? [] : [[line.slice(0, at), line.slice(at + 2)] as const]
    }),
  )
  return { id: fields.get('id'), event: fields.get('event') ?? 'message', data: fields.get('data') ?? '' }
}
