/** uPlot gives the language of the browser to `Intl` as it loads, and that refuses names of locales such as `en-US@posix`. */
try {
  Intl.getCanonicalLocales(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en' })
}
