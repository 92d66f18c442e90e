// How any program tells that it broke: exceptions, crashes, and lines that begin with how bad it is.
import type { Rule } from './rule.ts'

const error = 'error'

export const TROUBLE_RULES: readonly Rule[] = [
  {
    level: error,
    pattern: /^\s*Traceback \(most recent call last\):$/,
    isWeak: true,
    follow: {
      lines: 120,
      title: /^(?<title>[A-Za-z_][\w.]*(?:: .*)?)$/,
      where: /^\s+File "(?<file>[^"<]+)", line (?<line>\d+)/,
      isLastPlace: true,
    },
  },
  {
    level: error,
    pattern:
      /^(?:Exception in thread "[^"]*" |Caused by: )(?<title>[\w.$]+(?:Exception|Error)\b.*)$/,
    isWeak: true,
    follow: { lines: 8, where: /^\s+at .*\((?<where>\w+\.\w+:\d+)\)$/ },
  },
  {
    level: error,
    pattern:
      /^(?:\[?\w*\]? ?[Uu]ncaught )?(?<title>(?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?: .+)$/,
    isWeak: true,
    follow: {
      lines: 12,
      until: /^\s*$/,
      where: /^\s+at .*?\(?(?<where>(?:file:\/\/)?[^()\s]+:\d+:\d+)\)?$/,
    },
  },
  {
    level: error,
    pattern: /^(?<title>panic: .+)$/,
    isWeak: true,
    follow: { lines: 30, where: /^\s+(?<where>\S+\.go:\d+)/ },
  },
  {
    level: error,
    pattern: /^thread '.*' .*panicked at (?<where>[^\s:]+:\d+:\d+):$/,
    isWeak: true,
    follow: { lines: 1, title: /^(?<title>\S.*)$/ },
  },
  {
    level: error,
    pattern:
      /^(?<title>(?:\S+: )?(?:line \d+: )?(?:Segmentation fault|Bus error|Aborted|Killed|Illegal instruction)\b.{0,40})$/,
    isWeak: true,
  },
  {
    level: error,
    pattern:
      /^(?<title>.*\b(?:heap out of memory|Out of memory|No space left on device|core dumped)\b.*)$/i,
    isWeak: true,
  },
  {
    level: error,
    pattern:
      /^(?<title>[^\s:]+: (?:(?:line )?\d+: )?[^:]*:? ?(?:(?:command )?not found|No such file or directory|Permission denied))$/,
    isWeak: true,
  },
  // The warnings of Python and Node, which name themselves.
  { level: 'warning', pattern: /^\s*(?<where>\S+:\d+): (?<title>\w*Warning: .+)$/, isWeak: true },
  {
    level: 'warning',
    pattern: /^(?:\(node:\d+\) )?(?:\[\w+\] )?(?<title>\w*Warning: .+)$/,
    isWeak: true,
  },
  // Logs.
  {
    level: error,
    pattern:
      /^(?:\[?\d[\d:.,TZ+\s/-]{5,40}\]?\s+)?\[?(?<level>FATAL|ERROR|WARN(?:ING)?|Error|Warning)\]?(?::|\s+-|(?<=\])|(?<=[A-Z]))\s+(?<title>(?!Tests run:|Failures?:|Errors?:|-> \[Help|\[Help|Re-run |To see the full|For more information|After correcting|\d+ errors?$)\S.*)$/,
    isWeak: true,
  },
]
