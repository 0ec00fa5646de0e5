/** The colours of a report, in one of its looks. */
export interface Theme {
  /** The ground of a plot; transparent on a page, which has its own. */
  readonly background: string
  readonly page: string
  readonly text: string
  /** Captions and the names of facts. */
  readonly faint: string
  /** Lines of plots and tables. */
  readonly grid: string
  /** The ground of our rows in tables. */
  readonly ours: string
  /** Ours first. Colour-blind readers can tell them apart, by the shapes of the points too. */
  readonly colours: readonly string[]
}

export const LIGHT: Theme = {
  background: 'transparent',
  page: '#ffffff',
  text: '#1f2328',
  faint: '#59636e',
  grid: '#d8dee4',
  ours: '#eaf1ff',
  colours: [
    '#0b5fff',
    '#111111',
    '#d1495b',
    '#edae49',
    '#00798c',
    '#66a182',
    '#8d6a9f',
    '#b07d62',
    '#7a7a7a',
    '#c77dff',
  ],
}
export const DARK: Theme = {
  background: 'transparent',
  page: '#0d1117',
  text: '#e6edf3',
  faint: '#9198a1',
  grid: '#30363d',
  ours: '#12233f',
  colours: [
    '#6ea8ff',
    '#f0f0f0',
    '#ff7b8a',
    '#f5c469',
    '#3cc4d6',
    '#8fd0a5',
    '#c6a3dc',
    '#dcae93',
    '#a0a0a0',
    '#e3b8ff',
  ],
}

/** Theme of a separate picture. */
export const PAPER: Theme = { ...LIGHT, background: LIGHT.page }

/** A page on paper, which has no colours to spare. */
export const PRINT: Theme = { ...LIGHT, text: '#000000', faint: '#333333', grid: '#999999', ours: '#eeeeee' }
