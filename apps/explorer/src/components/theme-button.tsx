import { chooseTheme, THEMES, theme } from '../state/theme.ts'

const SIGNS = { system: '◐', light: '☀', dark: '☾' } as const

/** A button that changes from the theme of the system to the light one, to the dark one, and back. */
export function ThemeButton() {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!
  const label = `Theme: ${theme.value}; change to ${next}`
  return (
    <button type="button" class="theme" aria-label={label} title={label} onClick={() => chooseTheme(next)}>
      {SIGNS[theme.value]}
    </button>
  )
}
