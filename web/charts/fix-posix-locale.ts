// A browser under the locale `C` reports the language `en-US@posix`, which its own number formats refuse. The chart library requests such a
// format while it loads and would break the whole page, so this must be imported before it.
try {
  Intl.NumberFormat.supportedLocalesOf(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en', configurable: true })
}
