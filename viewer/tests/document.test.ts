import assert from "node:assert/strict";
import { test } from "node:test";
import { cameraOf } from "../src/cameras.ts";
import * as questions from "../src/document.ts";
import { matchBelief, yaw } from "../src/matching.ts";
import type { Action, BeliefRow, Body, Pose, RunDocument } from "../src/model.ts";
import { shortAction } from "../src/words.ts";

const action = (id: string, robot: string, start_s: number, end_s: number | null, phase = "end"): Action => ({
  id, robot, text: `take ${robot} gear`, start_s, end_s, phase, reason: null, predicates: [],
});
const believed = (id: string, time_s: number, x: number, state = "seen"): BeliefRow => ({
  time_s, id, sku: "gear", pose: [x, 0, 0, 1, 0, 0, 0], sd: null, slot: null, state,
});

test("an action with a known id replaces the one before; others are put in the order of time", () => {
  const document = questions.emptyDocument();
  questions.addRows(document, { actions: [action("2", "b", 4, null, "running")] });
  questions.addRows(document, { actions: [action("2", "b", 4, 6, "failed"), action("1", "a", 1, 3)] });
  assert.deepEqual(document.actions.map(({ id, phase }) => [id, phase]), [["1", "end"], ["2", "failed"]]);
});

test("rows of a series are appended to the series of that name", () => {
  const document = questions.emptyDocument();
  const part = (times: number[]) => ({ name: "force", unit: "N", labels: ["x"], times, values: [times.map((time) => time * 2)] });
  questions.addRows(document, { series: [part([0, 1])] });
  questions.addRows(document, { series: [part([2])] });
  assert.deepEqual(document.series[0]?.times, [0, 1, 2]);
  assert.deepEqual(document.series[0]?.values, [[0, 2, 4]]);
});

test("a live document does not grow without end, and keeps the newest", () => {
  const document = questions.emptyDocument();
  for (let i = 0; i < 40; i++) {
    const events = Array.from({ length: 500 }, (_, row) => ({ time_s: i * 500 + row, kind: "note", text: "", subject: null }));
    questions.addRows(document, { events }, true);
  }
  assert.ok(document.events.length <= 6000);
  assert.equal(document.events[document.events.length - 1]?.time_s, 19999);
});

test("what a robot does at a time is found, else what it did last", () => {
  const actions = [action("1", "a", 1, 3), action("2", "b", 2, 8), action("3", "a", 5, 6)];
  assert.equal(questions.actionAt(actions, 0.5), null);
  assert.equal(questions.actionAt(actions, 4, "a")?.id, "1");
  assert.equal(questions.actionAt(actions, 5.5, "a")?.id, "3");
  assert.equal(questions.actionAt(actions, 7)?.id, "2");
});

test("the next and the previous action are those that begin then", () => {
  const actions = [action("1", "a", 1, 3), action("2", "b", 2, 8), action("3", "a", 5, 6)];
  assert.equal(questions.neighbour(actions, 1, 1), 2);
  assert.equal(questions.neighbour(actions, 2, -1), 1);
  assert.equal(questions.neighbour(actions, 2.5, -1), 2);
  assert.equal(questions.neighbour(actions, 9, 1), null);
});

test("a step that was carried out elsewhere than planned is found between its neighbours", () => {
  const told = (id: string, start_s: number, step: string, text = step): Action => ({ ...action(id, "a", start_s, start_s + 1), step, text });
  const steps = ["look gear at tray", "grasp gear", "take gear at tray", "place gear", "take gear at tray"].map((text) => ({ robot: "a", text, start_s: null, end_s: null }));
  const plan = { time_s: 1, planner: "p", reason: "", steps };
  const actions = [
    told("old", 0, "take gear at tray"), told("look", 1, "look gear at gear_2", "look gear_2 where it lies"), told("grasp", 2, "grasp gear"),
    told("take", 3, "take gear at gear_2", "take gear_2 where it lies"), told("place", 4, "place gear"),
  ];
  assert.deepEqual(questions.stepActions(plan, actions).map((one) => one?.id ?? null), ["look", "grasp", "take", "place", null]);
});

test("belief at a time is the newest row of each identity that has not gone", () => {
  const rows = [believed("a", 1, 0), believed("b", 1, 1), believed("a", 2, 5), believed("b", 3, 1, "gone")];
  assert.deepEqual(questions.beliefAt(rows, 2.5).map(({ id, pose }) => [id, pose[0]]), [["a", 5], ["b", 1]]);
  assert.deepEqual(questions.beliefAt(rows, 3).map(({ id }) => id), ["a"]);
  assert.deepEqual(questions.beliefAt(rows, 0), []);
});

test("old detections are not shown", () => {
  const rows = [{ time_s: 1, source: "one", items: [] }, { time_s: 1.2, source: "two", items: [] }, { time_s: 1.3, source: "one", items: [] }];
  assert.deepEqual(questions.detectionsAt(rows, 1.4).map(({ source, time_s }) => [source, time_s]), [["one", 1.3], ["two", 1.2]]);
  assert.deepEqual(questions.detectionsAt(rows, 9), []);
});

test("a trace opens at the action that had failed when the failure was seen", () => {
  const document: RunDocument = questions.emptyDocument();
  questions.addRows(document, { actions: [action("1", "a", 1, 3, "failed"), action("2", "a", 4, 5), action("3", "a", 7, 8, "failed")] });
  assert.equal(questions.failedAction(document), null);
  document.about.failure_s = 3;
  assert.equal(questions.failedAction(document)?.id, "1");
  document.about.failure_s = 6; // what had failed was made up for: a test has failed, or something was hit
  assert.equal(questions.failedAction(document), null);
});

test("each belief is compared with the nearest thing of its kind, each thing once", () => {
  const body = (name: string, sku: string): Body => ({ name, label: name, kind: "part", pose: null, sku });
  const places: Pose[] = [[0, 0, 0, 1, 0, 0, 0], [0.1, 0, 0, Math.SQRT1_2, 0, 0, Math.SQRT1_2], [0.001, 0, 0, 1, 0, 0, 0]];
  const bodies = [body("g1", "gear"), body("g2", "gear"), body("nut", "nut")];
  const rows = [believed("a", 0, 0.09), believed("b", 0, 0.002), believed("g2", 0, 9)];
  const matches = matchBelief(rows, bodies, (index) => places[index]!);
  assert.deepEqual(matches.map((match) => match.body), [1, 0, null]);
  assert.ok(Math.abs(matches[0]!.off_mm! - 10) < 1e-6 && Math.abs(matches[0]!.turn_deg! - 90) < 1e-6);
  assert.ok(Math.abs(yaw(places[1]!) - 90) < 1e-6);
});

test("what was carried away is still compared with the thing of its name", () => {
  const body: Body = { name: "g1", label: "g1", kind: "part", pose: null, sku: "gear" };
  assert.equal(matchBelief([believed("g1", 0, 9)], [body], () => [0, 0, 0, 1, 0, 0, 0])[0]?.body, 0);
});

test("names of actions are short, cameras are found by their detectors", () => {
  assert.equal(shortAction("(take-part fanuc gear_2)", "fanuc"), "take part gear_2");
  assert.equal(cameraOf("/camera_2/detections", [{ name: "camera_1" }, { name: "camera_2" }])?.name, "camera_2");
  const told = [{ name: "camera_detector" }, { name: "camera_b", sensors: ["detector_a"] }];
  assert.equal(cameraOf("detector_a", told)?.name, "camera_b");
  assert.equal(cameraOf("detector_a", [{ name: "camera_b" }]), null);
});

test("a score is told once for each item, whatever comes first", () => {
  const document = questions.emptyDocument();
  const item = (name: string, passed: boolean) => ({ name, passed, points: null, most: null, reason: null });
  questions.addRows(document, { score: [item("slot", false), item("time", true)], robots: ["a"] });
  questions.addRows(document, { score: [item("slot", true)], robots: [] });
  assert.deepEqual(document.score.map(({ name, passed }) => [name, passed]), [["slot", true], ["time", true]]);
  assert.deepEqual(document.robots, ["a"]);
});
