import { useState } from 'preact/hooks'
import { goTo, route } from '../state/location.ts'
import { type Target, textToTargets } from '../state/target.ts'

/** One field for whatever somebody has in hand; says while typing what it would open. */
export function SearchField() {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const targets = textToTargets(text)
  const open = (target: Target | undefined): void => {
    if (!target) return
    setText('')
    setChosen(0)
    const { view, at } = route.value
    goTo({ view: target.view ?? view, at: target.at ?? at })
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0 || targets.length === 0) return
    event.preventDefault()
    setChosen((chosen + step + targets.length) % targets.length)
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
          aria-label="Address, table, type, module, version, time or block"
          placeholder="Address, table, type, module, version, time or block"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value)
            setChosen(0)
          }}
          onKeyDown={onKeyDown}
        />
        {text.trim() !== '' && (
          <div id="targets" class="targets" role="listbox" aria-label="What this opens" tabIndex={-1}>
            {targets.map((target, at) => (
              <div
                key={target.label}
                id={`target-${at}`}
                role="option"
                tabIndex={-1}
                aria-selected={at === chosen}
                onMouseDown={() => open(target)}
              >
                {target.label}
              </div>
            ))}
            {targets.length === 0 && <div class="hint">an address, 0x…::module::Type, a number or a time</div>}
          </div>
        )}
      </form>
    </search>
  )
}
