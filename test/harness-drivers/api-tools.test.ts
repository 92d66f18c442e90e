// The tools themselves, over their line protocol.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  API_TOOLS,
  type ToolName,
  type ToolResult,
  toolInputError,
} from '../../src/harness/api/drive/tools/tool-program.ts'
import { serveTools } from '../../src/harness/api/drive/tools/serve-tools.ts'
import { isRunning } from '../support/processes.ts'
import { scratchFolder } from '../support/scratch.ts'

class Tools {
  readonly folder = scratchFolder()
  readonly #requests = new PassThrough()
  readonly #responses = new PassThrough()
  readonly #waiting = new Map<number, (result: ToolResult) => void>()
  readonly served: Promise<void>
  #count = 0

  constructor() {
    const env = { PATH: process.env.PATH, HOME: this.folder }
    this.served = serveTools(this.#requests, this.#responses, { cwd: this.folder, env })
    this.#responses.on('data', (line: Buffer) => {
      const { id, ...result } = JSON.parse(line.toString()) as ToolResult & { id: number }
      this.#waiting.get(id)!(result)
    })
    onTestFinished(() => this.end())
  }

  use(tool: ToolName, input: object): Promise<ToolResult> {
    const id = (this.#count += 1)
    this.#requests.write(`${JSON.stringify({ id, tool, input })}\n`)
    return new Promise((resolve) => this.#waiting.set(id, resolve))
  }

  stop(): void {
    this.#requests.write(`${JSON.stringify({ stop: this.#count })}\n`)
  }

  async end(): Promise<void> {
    this.#requests.end()
    await this.served
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  write(name: string, content: string | Buffer): string {
    writeFileSync(this.path(name), content)
    return this.path(name)
  }
}

const good = (text: unknown) => ({ text, isError: false })
const bad = (text: unknown) => ({ text, isError: true })
const containing = (text: string) => expect.stringContaining(text)

describe('the read tool', () => {
  test('returns a whole file, or a range of its lines', async () => {
    const tools = new Tools()
    tools.write('a.txt', 'one\r\ntwo\n\nfour é\nlast')
    expect(await tools.use('read', { path: 'a.txt' })).toEqual(good('one\r\ntwo\n\nfour é\nlast'))
    expect(await tools.use('read', { path: tools.path('a.txt'), offset: 2, limit: 2 })).toEqual(
      good(containing('two\n\n[not all of the file, which has 22 bytes: go on with offset 4]')),
    )
    expect(await tools.use('read', { path: 'a.txt', offset: 5 })).toEqual(good('last'))
    expect(await tools.use('read', { path: 'a.txt', offset: 9 })).toEqual(
      good('[the file has fewer than 9 lines]'),
    )
    tools.write('empty.txt', '')
    expect(await tools.use('read', { path: 'empty.txt' })).toEqual(good('[the file is empty]'))
  })

  test('returns a huge file in pieces that add up to all of it', async () => {
    const tools = new Tools()
    const lines = Array.from({ length: 9000 }, (_, index) => `${index} ${'é'.repeat(index % 60)}\n`)
    tools.write('huge.txt', lines.join(''))
    const pieces: string[] = []
    for (let offset: number | undefined = 1; offset !== undefined;) {
      const { text } = await tools.use('read', { path: 'huge.txt', offset })
      expect(text.length).toBeLessThan(60_000)
      const [, piece, next] =
        /^([^]*?)(?:\[not all of the file, .*: go on with offset (\d+)\])?$/.exec(text)!
      pieces.push(piece!)
      offset = next === undefined ? undefined : Number(next)
    }
    expect(pieces.length).toBeGreaterThan(4)
    expect(pieces.join('')).toBe(lines.join(''))
  })

  test('cuts an endless line between two characters', async () => {
    const tools = new Tools()
    for (const shift of ['', 'a', 'ab', 'abc']) {
      tools.write('one-line.txt', `${shift}${'🧭'.repeat(200_000)}`)
      const { text, isError } = await tools.use('read', { path: 'one-line.txt' })
      expect(isError).toBe(false)
      expect(text).toMatch(
        /^[abc]{0,3}(?:🧭)+\n\[not all of the file, .*longer than can be shown\]$/u,
      )
    }
  })

  test('refuses a missing path, a pipe and a file that is not UTF-8', async () => {
    const tools = new Tools()
    tools.write('bytes.bin', Buffer.from([0x61, 0, 0x62]))
    tools.write('latin.txt', Buffer.from([0x61, 0xe9, 0x62]))
    execFileSync('mkfifo', [tools.path('pipe')])
    expect(await tools.use('read', { path: 'bytes.bin' })).toEqual(
      bad(containing('no text in UTF-8')),
    )
    expect(await tools.use('read', { path: 'latin.txt' })).toEqual(
      bad(containing('no text in UTF-8')),
    )
    expect(await tools.use('read', { path: 'pipe' })).toEqual(bad(containing('no plain file')))
    expect(await tools.use('read', { path: '.' })).toEqual(bad(containing('is a folder')))
    expect(await tools.use('read', { path: 'nothing' })).toEqual(
      bad(containing('there is no file')),
    )
  })
})

describe('the write tool', () => {
  test('creates folders, keeps permissions and links, and leaves no temporary file', async () => {
    const tools = new Tools()
    expect(await tools.use('write', { path: 'a/b/c.txt', content: 'new\n' })).toEqual(
      good(containing('Written')),
    )
    expect(readFileSync(tools.path('a/b/c.txt'), 'utf8')).toBe('new\n')
    expect(readdirSync(tools.path('a/b'))).toEqual(['c.txt'])
    chmodSync(tools.write('run.sh', '#!/bin/sh\n'), 0o754)
    symlinkSync('run.sh', tools.path('link'))
    expect(await tools.use('write', { path: 'link', content: '#!/bin/sh\ntrue\n' })).toEqual(
      good(containing('Replaced')),
    )
    expect(lstatSync(tools.path('link')).isSymbolicLink()).toBe(true)
    expect(readFileSync(tools.path('run.sh'), 'utf8')).toBe('#!/bin/sh\ntrue\n')
    expect(statSync(tools.path('run.sh')).mode & 0o777).toBe(0o754)
  })

  test('refuses a folder, and a parent folder that cannot be created', async () => {
    const tools = new Tools()
    tools.write('file', 'x')
    expect(await tools.use('write', { path: '.', content: 'x' })).toEqual(
      bad(containing('is a folder')),
    )
    expect((await tools.use('write', { path: 'file/below', content: 'x' })).isError).toBe(true)
  })
})

describe('the edit tool', () => {
  test('replaces exactly the old text, and refuses an ambiguous match', async () => {
    const tools = new Tools()
    const path = tools.write('a.txt', '\uFEFFone two\r\none three\n$& \n')
    const edit = (old_text: string, new_text: string) =>
      tools.use('edit', { path, old_text, new_text })
    expect(await edit('one', '1')).toEqual(bad(containing('2 times')))
    expect(await edit('none', '1')).toEqual(bad(containing('does not stand in')))
    expect(await edit('two\none', '1')).toEqual(bad(containing('CR LF')))
    expect(await edit('one  two', '1')).toEqual(bad(containing('white space')))
    expect(await edit('', '1')).toEqual(bad(containing('empty')))
    expect(await edit('one', 'one')).toEqual(bad(containing('the same')))
    expect(readFileSync(path, 'utf8')).toBe('\uFEFFone two\r\none three\n$& \n')
    expect(await edit('one three', '$& $1 drei')).toEqual(good(containing('Edited')))
    expect(readFileSync(path, 'utf8')).toBe('\uFEFFone two\r\n$& $1 drei\n$& \n')
  })

  test('counts overlapping matches, and refuses a binary file', async () => {
    const tools = new Tools()
    tools.write('a.txt', 'aaa')
    tools.write('bytes.bin', Buffer.from([0x61, 0xff]))
    expect(await tools.use('edit', { path: 'a.txt', old_text: 'aa', new_text: 'b' })).toEqual(
      bad(containing('2 times')),
    )
    expect(await tools.use('edit', { path: 'bytes.bin', old_text: 'a', new_text: 'b' })).toEqual(
      bad(containing('no text in UTF-8')),
    )
    expect(readFileSync(tools.path('bytes.bin'))).toEqual(Buffer.from([0x61, 0xff]))
  })
})

test('a redaction marker is never written in place of the secret it stands for', async () => {
  const tools = new Tools()
  const before = 'url=a\nk=ghp_0123456789abcdefghijABCDEFGHIJ012345\n# [redacted:aws-key]\n'
  const path = tools.write('.env', before)
  const refused = bad(containing('stands for a secret that is not shown to you'))
  const marked = 'url=b\nk=[redacted:github-token]\n# [redacted:aws-key]\n'
  expect(await tools.use('write', { path, content: marked })).toEqual(refused)
  expect(
    await tools.use('edit', { path, old_text: 'url=a', new_text: 'url=[redacted:aws-key]' }),
  ).toEqual(refused)
  expect(await tools.use('write', { path: 'copy.env', content: marked })).toEqual(refused)
  expect(readFileSync(path, 'utf8')).toBe(before)
  expect(await tools.use('edit', { path, old_text: 'url=a', new_text: 'url=b' })).toEqual(
    good(containing('Edited')),
  )
  expect(await tools.use('write', { path, content: 'k=\n# [redacted:aws-key]\n' })).toEqual(
    good(containing('Replaced')),
  )
})

describe('the shell tool', () => {
  test('returns the output and how the command ended', async () => {
    const tools = new Tools()
    expect(await tools.use('shell', { command: 'echo out; echo err >&2; pwd' })).toEqual(
      good(`out\nerr\n${tools.folder}`),
    )
    expect(await tools.use('shell', { command: 'echo long', timeout_seconds: 1e9 })).toEqual(
      good('long'),
    )
    expect(await tools.use('shell', { command: 'exit 3' })).toEqual(
      bad('[it printed nothing]\n[it exited with 3]'),
    )
    expect(await tools.use('shell', { command: 'kill -9 $$' })).toEqual(
      bad(containing('ended by SIGKILL')),
    )
    expect(await tools.use('shell', { command: 'read line; echo "got $line"' })).toEqual(
      good('got'),
    )
  })

  test('returns the beginning and the end of endless output', async () => {
    const tools = new Tools()
    const { text } = await tools.use('shell', {
      command: 'echo first; yes | head -c 3000000; echo last',
    })
    expect(text).toMatch(/^first\ny\n[^]*\n\[\d{7} bytes left out here\]\n[^]*\nlast$/)
    expect(text.length).toBeLessThan(34_000)
  })

  test('ends a command that times out or is interrupted, with everything it started', async () => {
    const tools = new Tools()
    const command = 'echo begun; sleep 987 & echo $! > pid; wait'
    const pid = () => readFileSync(tools.path('pid'), 'utf8')
    const isThere = () => isRunning(Number(pid()))
    const time = new AbortController()
    vi.spyOn(AbortSignal, 'timeout').mockImplementationOnce(() => time.signal)
    onTestFinished(() => void vi.restoreAllMocks())
    writeFileSync(tools.path('pid'), '')
    const late = tools.use('shell', { command, timeout_seconds: 5 })
    await expect.poll(pid).not.toBe('')
    time.abort()
    expect(await late).toEqual(bad('begun\n[it was ended after 5 seconds]'))
    await expect.poll(isThere).toBe(false)
    writeFileSync(tools.path('pid'), '')
    const stopped = tools.use('shell', { command })
    await expect.poll(pid).not.toBe('')
    tools.stop()
    expect(await stopped).toEqual(bad(containing('it was interrupted')))
    await expect.poll(isThere).toBe(false)
  })

  test('does not wait for background processes', async () => {
    const tools = new Tools()
    const { text } = await tools.use('shell', { command: 'sleep 987 & echo $!' })
    process.kill(Number(text))
  })
})

test('tool input is validated before the tool runs', () => {
  const fault = (name: ToolName, input: Readonly<Record<string, unknown>>) =>
    toolInputError(
      API_TOOLS.find((tool) => tool.name === name)!,
      input,
    )
  expect(fault('edit', { path: 'a', old_text: 'b' })).toBe('new_text is missing')
  expect(fault('read', { path: 7 })).toBe('path must be a text')
  expect(fault('read', { path: 'a', offset: 0 })).toBe('offset must be a whole number from 1')
  expect(fault('shell', { command: 'a', cwd: '/' })).toBe(
    'there is no cwd; there are command, timeout_seconds',
  )
  expect(fault('shell', { command: 'a', timeout_seconds: 5 })).toBeUndefined()
})
