import { signal } from '@preact/signals'
import { readStored, writeStored } from './stored-text.ts'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const STORED_AS = 'theme'

/** The theme that the visitor chose, which the browser keeps. */
export const theme = signal<Theme>(readTheme())

/** Applies the theme. Every colour of the page is a `light-dark()`, which follows the colour scheme of the document. */
export function applyTheme(): void {
  document.documentElement.style.colorScheme = theme.value === 'system' ? 'light dark' : theme.value
}

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen
  applyTheme()
  writeStored(STORED_AS, chosen)
}

function readTheme(): Theme {
  const stored = readStored(STORED_AS)
  return THEMES.find((one) => one === stored) ?? 'system'
}
