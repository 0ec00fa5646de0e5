import { useEffect, useState } from 'preact/hooks'
import type { Found } from '../state/find-targets.ts'
import { newest, oldestTimestampUsec } from '../state/ledger.ts'
import { goTo, route } from '../state/location.ts'
import { type Target, textToCandidates } from '../state/target.ts'

/** Pause in typing after which the node is asked. */
const REST_MS = 150

/** One search field for everything. While the visitor types, it shows matches and misses. */
export function SearchField() {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const { view, at } = route.value
  const { found, isAsking } = useFound(text, at)
  const targets = found?.targets ?? []
  const open = (target: Target | undefined): void => {
    if (!target) return
    setText('')
    setChosen(0)
    goTo({ view: target.view ?? view, at: target.at ?? at })
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0 || targets.length === 0) return
    event.preventDefault()
    const next = (chosen + step + targets.length) % targets.length
    setChosen(next)
    document.getElementById(`target-${next}`)?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <search class="search">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          open(targets[chosen])
        }}
      >
        <input
          type="text"
          name="target"
          autocomplete="off"
          spellcheck={false}
          role="combobox"
          aria-expanded={targets.length > 0}
          aria-controls="targets"
          aria-activedescendant={targets.length > 0 ? `target-${chosen}` : undefined}
          aria-label="Address, asset, name, module, function, table, type, transaction, version, time or block"
          placeholder="Address, asset, name, module, function, version, time or block"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value)
            setChosen(0)
          }}
          onKeyDown={onKeyDown}
        />
        {text.trim() !== '' && (
          <div class="targets">
            <div id="targets" role="listbox" aria-label="Search results" tabIndex={-1}>
              {targets.map((target, place) => (
                <div
                  key={`${place} ${target.label}`}
                  id={`target-${place}`}
                  role="option"
                  tabIndex={-1}
                  aria-selected={place === chosen}
                  onMouseDown={() => open(target)}
                >
                  {target.label}
                </div>
              ))}
            </div>
            <div class="hint" role="status">
              {isAsking ? 'looking…' : hintFor(text, found)}
            </div>
          </div>
        )}
      </form>
    </search>
  )
}

function hintFor(text: string, found: Found | undefined): string {
  if (textToCandidates(text).length === 0) {
    return 'an address, a name of an asset, module, function or token, 0x…::module::Type, a version, “block 300”, or a time'
  }
  return found?.missing.join(' ') ?? ''
}

/** Matches in the node for a text, requested after a pause in typing. An earlier search is aborted. */
function useFound(text: string, at: string | undefined) {
  const [answer, setAnswer] = useState<{ readonly of: string; readonly found: Found } | undefined>(undefined)
  const of = `${text.trim()} ${at ?? ''}`
  const isSearched = textToCandidates(text).length > 0
  useEffect(() => {
    if (!isSearched) return undefined
    const stop = new AbortController()
    const timer = setTimeout(async () => {
      // Loaded with the first search.
      const { findTargets } = await import('../state/find-targets.ts')
      const context = { at, head: newest.value, oldestTimestampUsec: oldestTimestampUsec.value }
      const found = await findTargets(text, context, stop.signal).catch(() => undefined)
      if (found && !stop.signal.aborted) setAnswer({ of, found })
    }, REST_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [of])
  const found = answer?.of === of ? answer.found : undefined
  return { found, isAsking: isSearched && !found }
}
