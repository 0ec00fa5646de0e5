export interface StreamEvent {
  readonly id: string
  readonly event: string
  /** Empty for an event that only has an id. */
  readonly data: string
}

/** Reads the events of a stream of Server-Sent Events until its connection ends. An incomplete last event is left out. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of body) {
    const blocks = `${text}${decoder.decode(bytes, { stream: true })}`.split('\n\n')
    text = blocks.pop()!
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
      yield { id: field('id') ?? '', event: field('event') ?? 'message', data: field('data') ?? '' }
    }
  }
}
