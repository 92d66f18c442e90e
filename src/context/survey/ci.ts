// What a project's own machines run: the best witness of which commands have to pass.
import type { Finding, Look } from './finding.ts'

const FILES = [
  '.gitlab-ci.yml',
  '.circleci/config.yml',
  'azure-pipelines.yml',
  '.travis.yml',
  'Jenkinsfile',
  '.drone.yml',
  '.ci/run',
]
const MOST_FILES = 4
const MOST_COMMANDS = 6

// What checks something, and not what brings a machine there.
const CHECKS =
  /(?:^|[\s:/-])(?:test|tests|lint|check|build|clippy|vet|fmt|pytest|tox|ruff|mypy|verify|typecheck|rspec|phpunit|ctest)\b/
const PREPARES =
  /^(?:echo|cd|export|set|if|fi|for|done|sudo|apt|apt-get|brew|curl|wget|pip|git|mkdir|cat|docker (?:login|push|pull)|npm (?:ci|install)|yarn install|pnpm install)\b/

/** The files of continuous integration, with the checks that they run. */
export function ciFindings({ listing, sources }: Look): readonly Finding[] {
  const workflows = listing
    .in('.github/workflows')
    .filter((name) => /\.ya?ml$/.test(name))
    .map((name) => `.github/workflows/${name}`)
  // The one that is about testing, before those that publish and label.
  const inOrder = workflows.toSorted(
    (a, b) => Number(isMain(b)) - Number(isMain(a)) || (a < b ? -1 : 1),
  )
  const files = [...inOrder, ...FILES.filter(listing.has)].slice(0, MOST_FILES).map((from) => {
    return {
      from,
      commands: [...new Set(commandsIn(sources.text(from) ?? ''))].slice(0, MOST_COMMANDS),
    }
  })
  // What checks nothing is worth its name only where nothing else is there.
  const checking = files.filter(({ commands }) => commands.length > 0)
  return (checking.length > 0 ? checking : files).map(({ from, commands }) => {
    return {
      topic: 'ci',
      text: commands.length === 0 ? from : `${from} runs ${commands.join('; ')}`,
      from,
    }
  })
}

function isMain(path: string): boolean {
  return /\/(?:ci|test|tests|build|main|check|checks|pull[_-]?request|pr)\b[^/]*$/i.test(path)
}

/** The commands in a file of any of these kinds: each is a line, behind `run:` or a dash. */
function commandsIn(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) =>
      line
        .replace(/^\s*(?:- )?(?:(?:run|script|command):)?\s*(?:- )?/, '')
        .replace(/^(["'])(.*)\1\s*$/, '$2')
        .trim(),
    )
    .filter(
      (line) =>
        /^[a-z./][\w./-]*(?: |$)/.test(line) &&
        !line.endsWith(':') &&
        !/^[\w-]+:(?: |$)/.test(line),
    )
    .filter((line) => CHECKS.test(line) && !PREPARES.test(line))
    .map((line) =>
      line
        .replace(/\s*(?:\|\||>|#| -- ).*$/, '')
        .replace(/\s+\\$/, '')
        .trim(),
    )
    .filter((line) => line.length < 80 && line.includes(' '))
}
