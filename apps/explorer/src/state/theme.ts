import { signal } from '@preact/signals'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const STORED_AS = 'theme'

/** The theme that the visitor chose; the browser keeps it. */
export const theme = signal<Theme>(readTheme())

/** Every colour of the page is a `light-dark()`, which follows the colour scheme of the document. */
export function applyTheme(): void {
  document.documentElement.style.colorScheme = theme.value === 'system' ? 'light dark' : theme.value
}

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen
  applyTheme()
  try {
    localStorage.setItem(STORED_AS, chosen)
  } catch {
    // A browser that keeps nothing shows the theme until the page is left.
  }
}

function readTheme(): Theme {
  try {
    return THEMES.find((one) => one === localStorage.getItem(STORED_AS)) ?? 'system'
  } catch {
    return 'system'
  }
}
