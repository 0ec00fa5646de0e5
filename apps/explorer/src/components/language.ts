/** When uPlot loads, it passes the browser's language to `Intl`, which refuses locales such as `en-US@posix`. */
try {
  Intl.getCanonicalLocales(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en' })
}
