import { CallAnswer } from '../components/call-answer.tsx'
import { Link } from '../components/link.tsx'
import { unwatch, type WatchedCall, watchedCalls } from '../state/watched-calls.ts'

/** The calls that the visitor watches, side by side, all at the version of the page. */
export function WatchView() {
  const calls = watchedCalls.value
  return (
    <>
      <h1>Watched calls</h1>
      {calls.length === 0 && (
        <p class="empty">
          Nothing is watched yet. Call a view function of a module, such as <a href="/module/0x1/coin">0x1::coin</a>,
          and choose “Watch”. The list stays in this browser.
        </p>
      )}
      <div class="watched">
        {calls.map((watched) => (
          <WatchedCard key={JSON.stringify(watched)} watched={watched} />
        ))}
      </div>
    </>
  )
}

function WatchedCard({ watched }: { readonly watched: WatchedCall }) {
  const { function: name, call } = watched
  const given = call.typeArguments.length === 0 ? '' : `<${call.typeArguments.join(', ')}>`
  return (
    <section class="card" aria-label={`${name} ${call.arguments}`}>
      <h2>
        <Link view={{ name: 'view', function: name, call }}>
          <bdi class="type">{name}</bdi>
        </Link>
      </h2>
      <p class="hint">
        <bdi class="type">
          {given} {call.arguments}
        </bdi>
      </p>
      <CallAnswer name={name} call={call} results={[]} />
      <p>
        <button type="button" onClick={() => unwatch(watched)}>
          Watch no longer
        </button>
      </p>
    </section>
  )
}
