const CTRL_C = '\u0003'

/** Calls `quit` when a person presses q or Ctrl-C, which in this mode is a key like any other. Answers how to end it. */
export function onQuitKey(quit: () => void): () => void {
  const { stdin } = process
  if (!stdin.isTTY) return () => {}
  const onData = (data: Buffer): void => {
    if (/q/i.test(data.toString()) || data.includes(CTRL_C)) quit()
  }
  stdin.setRawMode(true)
  stdin.on('data', onData).resume()
  return () => {
    stdin.off('data', onData).pause()
    stdin.setRawMode(false)
  }
}
