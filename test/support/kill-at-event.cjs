// Preloaded into `stint run --json`: kills it, as `kill -9` does, just after it printed the events that KILL_AT_EVENT names, for example
// `tool 3`. A kill by the reader of the events would come later the busier the machine is.
const [kind, count] = process.env.KILL_AT_EVENT.split(' ')
// Long enough for the runner to start what it announced.
const AFTER_MS = 10
let left = Number(count)
const { stdout } = process
const write = stdout.write.bind(stdout)
stdout.write = (text, ...rest) => {
  const result = write(text, ...rest)
  for (const line of String(text).split('\n'))
    if (line.startsWith('{') && JSON.parse(line).kind === kind && (left -= 1) === 0)
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), AFTER_MS)
  return result
}
