import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Log, type LogPaths } from '../../src/journal/log.ts'
import { type LogUnderTest, describeLog } from '../contract/log.ts'
import { scratchFolder } from '../support/scratch.ts'

describeLog('a file', () => fileLog({ path: join(scratchFolder(), 'log.jsonl') }))

describeLog('a file with a hard link', () => {
  const folder = scratchFolder()
  return fileLog({
    path: join(folder, 'work/log.jsonl'),
    link: join(folder, 'git/log.jsonl'),
    ownMark: join(folder, 'own'),
  })
})

function fileLog(paths: LogPaths): LogUnderTest {
  mkdirSync(dirname(paths.path), { recursive: true })
  writeFileSync(paths.path, '')
  if (paths.ownMark !== undefined) writeFileSync(paths.ownMark, paths.path)
  return {
    open(options) {
      const log = new Log(paths, options)
      return {
        append: (drafts) => log.append(drafts),
        read: () => log.read().records,
        close: () => log.close(),
      }
    },
  }
}
