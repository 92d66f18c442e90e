// Generates transcripts like those of Claude Code for the import benchmark: prompts, responses,
// thinking, tool calls with excerpts of our sources as results, and lines that the import skips.
import { closeSync, mkdirSync, openSync, readFileSync, readdirSync, writeSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const BETAS = [
  'interleaved-thinking-2025-05-14',
  'context-management-2025-06-27',
  'advanced-tool-use-2025-11-20',
]
const START = Date.parse('2026-01-05T08:00:00Z')

/** Seeded pseudo-random numbers. */
function generator(seed) {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function sources(folder, extension) {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(extension))
    .sort()
    .map((name) => ({
      path: join(folder, name),
      text: readFileSync(join(ROOT, folder, name), 'utf8'),
    }))
}

/**
 * Writes transcripts of about `bytes` in total, in files of at most `perFile`. Returns the real
 * total.
 */
export function generateTranscripts(folder, cwd, bytes, perFile = 8 * 1024 * 1024) {
  mkdirSync(folder, { recursive: true })
  const code = sources('src', '.ts')
  const prose = sources('docs', '.md').flatMap(({ text }) =>
    text.split('\n\n').filter((piece) => piece.length > 40),
  )
  const random = generator(11)
  const pick = (list) => list[Math.floor(random() * list.length)]
  let written = 0
  for (let file = 0; written < bytes; file += 1) {
    const sessionId = uuid(`conversation ${file}`)
    const fd = openSync(join(folder, `${sessionId}.jsonl`), 'w')
    let inFile = 0
    let parentUuid = null
    let count = 0
    let lines = []
    const put = (line) => lines.push(JSON.stringify(line))
    const say = (type, message, more = {}) => {
      count += 1
      const id = uuid(`${file} ${count}`)
      const timestamp = new Date(START + written / 100 + count * 1000).toISOString()
      const common = {
        isSidechain: false,
        userType: 'external',
        cwd,
        sessionId,
        version: '2.1.325',
        gitBranch: 'main',
      }
      put({ parentUuid, ...common, type, message, uuid: id, timestamp, ...more })
      parentUuid = id
    }
    const answer = (content, stop) => {
      const usage = {
        input_tokens: 4,
        cache_creation_input_tokens: 900,
        cache_read_input_tokens: 41_000,
        output_tokens: 220,
      }
      const message = {
        id: `msg_${count}`,
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-4-5',
        content,
      }
      say('assistant', { ...message, stop_reason: stop, usage }, { requestId: `req_${count}` })
      // The sent request, which this client also records.
      put({
        type: 'api-request',
        sessionId,
        id: uuid(`request ${count}`),
        params: { model: 'claude-sonnet-4-5', betas: BETAS },
        keep: count,
      })
    }
    const cameBack = (use, text, toolUseResult) => {
      const message = {
        role: 'user',
        content: [{ tool_use_id: use, type: 'tool_result', content: text }],
      }
      say('user', message, { toolUseResult, sourceToolAssistantUUID: parentUuid })
      put({ type: 'api-request-blob', sessionId, hash: uuid(`blob ${count}`), message })
    }
    while (inFile < perFile && written + inFile < bytes) {
      say('user', { role: 'user', content: pick(prose) })
      put({
        type: 'file-history-snapshot',
        messageId: parentUuid,
        snapshot: { trackedFileBackups: {} },
        isSnapshotUpdate: false,
      })
      for (let step = 0; step < 6; step += 1) {
        if (random() < 0.3)
          answer([{ type: 'thinking', thinking: pick(prose), signature: 'A'.repeat(300) }], null)
        const { path, text } = pick(code)
        const filePath = join(cwd, path)
        const use = `toolu_${file}_${count}`
        const lines = text.split('\n')
        if (random() < 0.3) {
          const [oldString, newString] = [pick(lines), pick(lines)]
          answer(
            [
              {
                type: 'tool_use',
                id: use,
                name: 'Edit',
                input: { file_path: filePath, old_string: oldString, new_string: newString },
              },
            ],
            'tool_use',
          )
          cameBack(use, `The file ${filePath} has been updated.`, {
            filePath,
            oldString,
            newString,
            originalFile: text,
            structuredPatch: [],
          })
        } else {
          answer(
            [{ type: 'tool_use', id: use, name: 'Read', input: { file_path: filePath } }],
            'tool_use',
          )
          const numbered = lines
            .map((line, n) => `${String(n + 1).padStart(6)}\t${line}`)
            .join('\n')
          cameBack(use, numbered, {
            type: 'text',
            file: { filePath, content: text, numLines: lines.length },
          })
        }
      }
      answer([{ type: 'text', text: `${pick(prose)}\n\n${pick(prose)}` }], 'end_turn')
      const piece = Buffer.from(`${lines.join('\n')}\n`)
      writeSync(fd, piece)
      inFile += piece.length
      lines = []
    }
    closeSync(fd)
    written += inFile
  }
  return written
}

function uuid(seed) {
  const hex = createHash('sha1').update(seed).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
