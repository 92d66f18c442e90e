// A program that creates or opens a log, appends to it, and acknowledges each entry once the log has.
// It leaves what it could not save in a file, and saves that first when it is started again.
import { existsSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { NotWritten, OutcomeUnknown } from '../../src/journal/errors.ts'
import { Log, type RecordDraft } from '../../src/journal/log.ts'

const [path, link, unsaved, name] = process.argv.slice(2) as [string, string, string, string]
const log = new Log({ path, link, ownMark: `${link}.own` })
const note = (text: string): RecordDraft => ({
  kind: 'note.added',
  by: 'test',
  data: { text: `${name}/${text}` },
})

try {
  if (existsSync(unsaved)) {
    const records = JSON.parse(readFileSync(unsaved, 'utf8')) as RecordDraft[]
    if (log.exists()) acknowledge(records)
    else for (const record of log.create(records)) writeSync(1, `ack ${record.id}\n`)
    rmSync(unsaved)
  }
  if (log.exists()) acknowledge([note('opened')])
  else for (const record of log.create([note('opened')])) writeSync(1, `ack ${record.id}\n`)
  for (let n = 0; n < 2; n += 1) acknowledge([note(`${n}`)])
  acknowledge([note('short'), note('longer than the one before it')])
  acknowledge([note('long '.repeat(2000))])
} catch (error) {
  if (!(error instanceof NotWritten || error instanceof OutcomeUnknown)) throw error
  process.stderr.write(`${error.name}: ${error.message}\n`)
  // Written outside the faulted folder.
  writeFileSync(unsaved, JSON.stringify(error.records))
  process.exitCode = error instanceof NotWritten ? 3 : 4
}

function acknowledge(drafts: readonly RecordDraft[]): void {
  for (const record of log.append(drafts)) writeSync(1, `ack ${record.id}\n`)
}
