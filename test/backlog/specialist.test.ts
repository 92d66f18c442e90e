import { expect, test } from 'vitest'
import { proposeSpecialist } from '../../src/backlog/specialist.ts'

const task = (
  title: string,
  more: { description?: string; labels?: string[]; assignee?: string } = {},
) => ({
  title,
  description: '',
  labels: [],
  ...more,
})

test.each([
  ['Design the storage layer', 'architect'],
  ['Implement the review page', 'code'],
  ['Add a flag', 'code'],
  ['Fix the login', 'debugger'],
  ['Find why the worker crashes', 'debugger'],
  ['Review the pull request', 'reviewer'],
  ['Fix a typo in the README', 'documentation'],
  ['Write tests for the deploy script', 'tests'],
  ['Deploy the tests page', 'devops'],
  ['Investigate slow queries', 'research'],
  ['Numbers', 'code'],
])('%j goes to %s', (title, specialist) => {
  expect(proposeSpecialist(task(title)).specialist).toBe(specialist)
})

test('the assignee outranks labels, labels outrank words, the title outranks the description', () => {
  const all = task('Review it', { assignee: 'docs agent', labels: ['bug'], description: 'deploy' })
  expect(proposeSpecialist(all)).toEqual({
    specialist: 'documentation',
    because: 'assigned to docs agent',
  })
  expect(proposeSpecialist({ ...all, assignee: 'somebody' })).toEqual({
    specialist: 'debugger',
    because: 'label bug',
  })
  expect(proposeSpecialist({ ...all, assignee: '', labels: ['web'] })).toEqual({
    specialist: 'reviewer',
    because: 'the title says "Review"',
  })
  const described = task('Numbers', { description: 'Set up the pipeline' })
  expect(proposeSpecialist(described)).toEqual({
    specialist: 'devops',
    because: 'the description says "pipeline"',
  })
})
