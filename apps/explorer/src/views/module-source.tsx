import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Failure } from '../api/failure.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { FailureNotice } from '../components/failure-notice.tsx'
import { FirstItems } from '../components/first-items.tsx'
import { AddressLink } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { cutText } from '../components/long-text.tsx'
import { highlightMove } from '../move/highlight.ts'
import { loadPackage, type ModulePackage, unpackSource } from '../move/package-registry.ts'
import { untilAnswered } from '../state/until-answered.ts'

interface ModuleSourceProps {
  readonly address: string
  readonly module: string
  readonly at: string | undefined
}

interface Loaded {
  readonly of: ModulePackage
  readonly source: { readonly text: string } | { readonly failure: Failure } | undefined
}

/** The package of a module and its source, as its publisher left them in the account. */
export function ModuleSource({ address, module, at }: ModuleSourceProps) {
  const [loaded, setLoaded] = useState<Loaded | 'none' | { readonly failure: Failure } | undefined>(undefined)
  useEffect(() => {
    const stop = new AbortController()
    setLoaded(undefined)
    const load = async () => {
      const found = await untilAnswered(
        () => loadPackage(address, module, at, stop.signal),
        stop.signal,
        (failure) => setLoaded({ failure }),
      )
      if (found === undefined) return 'none'
      if ('failure' in found) return { failure: found.failure }
      const { packedSource } = found.value
      return { of: found.value, source: packedSource === undefined ? undefined : await unpackSource(packedSource) }
    }
    load().then(setLoaded, () => {})
    return () => stop.abort()
  }, [address, module, at])
  if (loaded === undefined) return <Loading />
  if (loaded === 'none') return <p class="empty">The account says nothing of a package with this module.</p>
  if ('failure' in loaded) return <FailureNotice failure={loaded.failure} />
  const { of, source } = loaded
  return (
    <>
      <dl class="members">
        <div class="member">
          <dt>package</dt>
          <dd>
            <bdi>{cutText(of.name)}</bdi>
          </dd>
        </div>
        <div class="member">
          <dt>upgrades</dt>
          <dd>
            {of.upgradeNumber}; {of.upgradePolicy}
          </dd>
        </div>
        <div class="member">
          <dt>depends on</dt>
          <dd>
            {of.dependencies.length === 0 && 'nothing'}
            <FirstItems items={of.dependencies} step={FIRST_DEPENDENCIES} what="packages">
              {(shown) =>
                shown.map(({ address: publisher, name }, at) => (
                  <div key={at}>
                    <bdi>{cutText(name)}</bdi> of <AddressLink address={publisher} />
                  </div>
                ))
              }
            </FirstItems>
          </dd>
        </div>
      </dl>
      {source === undefined && <p class="empty">The package was published without sources.</p>}
      {source && 'failure' in source && <FailureNotice failure={source.failure} />}
      {source && 'text' in source && <Source text={source.text} />}
    </>
  )
}

/** Characters of a source that are shown at first, and that each click adds. */
const STEP = 300_000
const FIRST_DEPENDENCIES = 50

/** The publisher's text. No one has compared it with the bytecode. */
function Source({ text }: { readonly text: string }) {
  const [length, setLength] = useState(STEP)
  const tokens = useMemo(() => highlightMove(text.slice(0, length)), [text, length])
  return (
    <>
      <p class="hint">
        As its publisher left it; nothing proves that the bytecode was made from it.{' '}
        <CopyButton text={text} what="the source" />
      </p>
      {/* A region that scrolls can be reached by the keyboard. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: see above */}
      <pre class="source" tabIndex={0}>
        {tokens.map(({ kind, text: piece }, at) =>
          kind === 'plain' ? (
            piece
          ) : (
            <span key={at} class={kind}>
              {piece}
            </span>
          ),
        )}
      </pre>
      {text.length > length && (
        <p>
          <button type="button" class="fold" onClick={() => setLength(length + STEP)}>
            {Math.min(text.length, length + STEP)} of {text.length} characters
          </button>
        </p>
      )}
    </>
  )
}
