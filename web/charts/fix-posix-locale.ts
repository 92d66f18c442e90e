// A browser under the locale `C` names its language `en-US@posix`, which its own number formats refuse. The chart asks for such a format
// while it is loaded, and would take the whole page with it. To be imported before it.
try {
  Intl.NumberFormat.supportedLocalesOf(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en', configurable: true })
}
