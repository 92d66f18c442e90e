// Makefiles and justfiles: the names of what they can do.
import { type Command, type Finding, type Look, type Told, purposesOf } from './finding.ts'

const KINDS = [
  {
    run: 'make',
    files: ['GNUmakefile', 'Makefile', 'makefile'],
    target: /^([A-Za-z0-9][\w.-]*)\s*:(?![=:])/,
  },
  {
    run: 'just',
    files: ['justfile', 'Justfile', '.justfile'],
    target: /^@?([A-Za-z][\w-]*)(?:\s+[^:]*)?:(?!=)/,
  },
  { run: 'task', files: ['Taskfile.yml', 'Taskfile.yaml'], target: /^ {2}([A-Za-z][\w:-]*):\s*$/ },
] as const

const MOST_OTHERS = 12

/** What the makefile and the justfile at the root offer. */
export function readMake(look: Look): Told {
  const told = KINDS.flatMap(({ run, files, target }) => {
    const from = files.find(look.listing.has)
    return from === undefined ? [] : [targetsIn(look, { run, target, from })]
  })
  return {
    findings: told.flatMap(({ findings }) => findings),
    commands: told.flatMap(({ commands }) => commands),
  }
}

function targetsIn(
  look: Look,
  { run, target, from }: { run: string; target: RegExp; from: string },
): Told {
  const lines = (look.sources.text(from) ?? '').split('\n')
  const names = new Set(
    lines.flatMap((line) => target.exec(line)?.[1] ?? []).filter((name) => !name.startsWith('.')),
  )
  const purposes = purposesOf(names)
  const used = new Set(purposes.map(([, name]) => name))
  // A target with a dot is a file that is made on the way.
  const others = [...names]
    .filter((name) => !used.has(name) && !name.includes('.'))
    .slice(0, MOST_OTHERS)
  return {
    findings: others.map((name): Finding => ({ topic: 'scripts', text: `${run} ${name}`, from })),
    commands: purposes.map(([purpose, name]): Command => ({
      purpose,
      command: `${run} ${name}`,
      from,
    })),
  }
}
