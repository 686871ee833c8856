"""Arguments that no text tells: they are found by how far the function comes with them."""

import dataclasses
import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import NoInputsError, rule_check

from .rules import registry_with

pytestmark = pytest.mark.usefixtures("without_diagnoses")

NO = rl.NoTangent()


def verdict(f, rule):
    return rule_check(f, registry=registry_with(f, rule)).verdict


class Controller:
    def __init__(self, gain, reset):
        self.gain, self.reset = gain, reset


def output(controller, error, total):
    return controller.gain * error + controller.reset * total


def output_with(reset):
    def rule(controller, error, total):
        def back(y_bar):
            bar = rl.Tangent(Controller, gain=y_bar * error, reset=reset * y_bar * total)
            return NO, bar, y_bar * controller.gain, y_bar * controller.reset

        return output(controller, error, total), back

    return rule


@dataclasses.dataclass
class Layer:
    weight: np.ndarray
    bias: np.ndarray


@dataclasses.dataclass
class Net:
    layers: list[Layer]
    scale: float


def apply(net: Net, x: np.ndarray) -> np.ndarray:
    for layer in net.layers:
        x = np.sin(layer.weight @ x + layer.bias)
    return net.scale * x


def apply_with(slope):
    def rule(net, x):
        inputs, sums = [], []
        for layer in net.layers:
            inputs.append(x)
            sums.append(layer.weight @ x + layer.bias)
            x = np.sin(sums[-1])

        def back(y_bar):
            scale_bar, x_bar, bars = x @ y_bar, net.scale * y_bar, []
            for layer, before, inner in zip(net.layers[::-1], inputs[::-1], sums[::-1]):
                bar = x_bar * slope(inner)
                bars.append(rl.Tangent(Layer, weight=np.outer(bar, before), bias=bar))
                x_bar = layer.weight.T @ bar
            return NO, rl.Tangent(Net, layers=bars[::-1], scale=scale_bar), x_bar

        return net.scale * x, back

    return rule


def present_value(flows, rate):
    return sum(amount / (1 + rate) ** time for time, amount in flows)


def present_value_with(factor):
    def rule(flows, rate):
        def back(y_bar):
            bars = [
                (-y_bar * a * math.log1p(rate) / (1 + rate) ** t, y_bar / (1 + rate) ** t) for t, a in flows
            ]
            slope = sum(-factor * t * a / (1 + rate) ** (t + 1) for t, a in flows)
            return NO, bars, y_bar * slope

        return present_value(flows, rate), back

    return rule


def likelihood(P, states):
    return sum(np.log(P[a, b]) for a, b in zip(states[:-1], states[1:]))


def likelihood_with(swapped):
    def rule(P, states):
        def back(y_bar):
            bar = np.zeros(P.shape)
            for a, b in zip(states[:-1], states[1:]):
                bar[a, b] += y_bar / (P[b, a] if swapped else P[a, b])
            return NO, bar, NO

        return likelihood(P, states), back

    return rule


def areas(vertices, faces):
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return np.sum(np.cross(b - a, c - a) ** 2)


def areas_with(factor):
    def rule(vertices, faces):
        a, b, c = (vertices[faces[:, k]] for k in range(3))
        normal = np.cross(b - a, c - a)

        def back(y_bar):
            to_b, to_c = 2 * np.cross(c - a, normal), factor * np.cross(normal, b - a)
            bar = np.zeros(vertices.shape)
            for k, part in enumerate((-to_b - to_c, to_b, to_c)):
                np.add.at(bar, faces[:, k], y_bar * part)
            return NO, bar, NO

        return np.sum(normal**2), back

    return rule


def apply_blocks(blocks, x):
    out, at = [], 0
    for block in blocks:
        out.append(block @ x[at : at + block.shape[1]])
        at += block.shape[1]
    return np.concatenate(out)


def apply_blocks_with(turned):
    def rule(blocks, x):
        def back(y_bar):
            bars, x_bar, row, at = [], np.zeros(x.shape), 0, 0
            for block in blocks:
                rows, columns = block.shape
                part, inner = y_bar[row : row + rows], slice(at, at + columns)
                bars.append(np.outer(part, x[inner]))
                x_bar[inner] = turned(block) @ part
                row, at = row + rows, at + columns
            return NO, bars, x_bar

        return apply_blocks(blocks, x), back

    return rule


def strongest(feature, box):
    left, top, right, bottom = box
    return feature[top:bottom, left:right].max()


def strongest_with(first):
    def rule(feature, box):
        left, top, right, bottom = box
        part = feature[top:bottom, left:right]
        row, column = np.unravel_index(part.argmax(), part.shape)

        def back(y_bar):
            bar = np.zeros(feature.shape)
            bar[(row, column) if first else (top + row, left + column)] = y_bar
            return NO, bar, NO

        return part.max(), back

    return rule


@dataclasses.dataclass
class Chain:
    links: np.ndarray
    joints: np.ndarray


def tension(chain, load):
    total = 0.0
    for k in range(len(chain.joints) - 1):
        total += chain.links[k] * (chain.joints[k + 1] - chain.joints[k])
    return total + load @ chain.joints


def tension_with(sign):
    def rule(chain, load):
        def back(y_bar):
            pulled = np.zeros(len(chain.joints))
            pulled[1:] += chain.links
            pulled[:-1] -= chain.links
            bar = rl.Tangent(
                Chain, links=y_bar * np.diff(chain.joints), joints=y_bar * (sign * pulled + load)
            )
            return NO, bar, y_bar * chain.joints

        return chain.links @ np.diff(chain.joints) + load @ chain.joints, back

    return rule


def sparse_product(data, x, rows: tuple, cols: tuple, n_rows: int):
    product = np.zeros(n_rows)
    np.add.at(product, list(rows), data * x[list(cols)])
    return product


def sparse_product_with(add):
    def rule(data, x, rows, cols, n_rows):
        r, c = list(rows), list(cols)

        def back(bar):
            x_bar = np.zeros(x.shape)
            add(x_bar, c, data * bar[r])
            return NO, bar[r] * x[c], x_bar, NO, NO, NO

        return sparse_product(data, x, rows, cols, n_rows), back

    return rule


@dataclasses.dataclass
class Camera:
    focal: float
    centre: np.ndarray
    place: np.ndarray


def project(points, camera: Camera):
    moved = points + camera.place
    if np.any(moved[:, 2] <= 0):
        raise ValueError("a point lies behind the camera")
    return camera.focal * moved[:, :2] / moved[:, 2:] + camera.centre


def project_with(centre_of):
    def rule(points, camera):
        moved = points + camera.place
        depth, ratio = moved[:, 2:], moved[:, :2] / moved[:, 2:]

        def back(bar):
            xy = camera.focal * bar / depth
            points_bar = np.column_stack([xy, -np.sum(xy * ratio, axis=1)])
            place, centre = points_bar.sum(axis=0), centre_of(bar)
            return NO, points_bar, rl.Tangent(Camera, focal=np.sum(bar * ratio), centre=centre, place=place)

        return project(points, camera), back

    return rule


@dataclasses.dataclass
class Pose:
    rotation: np.ndarray
    shift: np.ndarray


def moved(pose: Pose, points):
    """Points (n, 3), turned and shifted."""
    w, axis = pose.rotation[0], pose.rotation[1:]
    return w * points + np.cross(axis, points) + pose.shift


def moved_with(sum_of_rows):
    def rule(pose, points):
        def back(y_bar):
            w, axis = pose.rotation[0], pose.rotation[1:]
            axis_bar = np.sum(np.cross(points, y_bar), axis=0)
            rotation_bar = np.concatenate([[np.sum(y_bar * points)], axis_bar])
            pose_bar = rl.Tangent(Pose, rotation=rotation_bar, shift=sum_of_rows(y_bar, axis=0))
            return NO, pose_bar, w * y_bar + np.cross(y_bar, axis)

        return moved(pose, points), back

    return rule


CASES = {
    "one more joint than there are links": (tension, tension_with, 1, -1),
    "points in front of a camera": (
        project, project_with, lambda bar: bar.sum(axis=0), lambda bar: bar.mean(axis=0)
    ),
    "a matrix by its places": (sparse_product, sparse_product_with, np.add.at, np.put),
    "an object of a plain class": (output, output_with, 1.0, 1.1),
    "objects in an object": (apply, apply_with, np.cos, lambda inner: np.cos(inner) ** 2),
    "a quaternion in an object": (moved, moved_with, np.sum, np.mean),
    "a list of pairs": (present_value, present_value_with, 1.0, 1.2),
    "states that index a matrix": (likelihood, likelihood_with, False, True),
    "triangles by their corners": (areas, areas_with, 2, 1),
    "blocks one after the other": (apply_blocks, apply_blocks_with, np.transpose, np.asarray),
    "a box of whole numbers": (strongest, strongest_with, False, True),
}


@pytest.mark.first(1)
@pytest.mark.parametrize("name", CASES)
def test_arguments_are_found_by_how_far_the_function_comes(name):
    f, ruled, right, wrong = CASES[name]
    assert verdict(f, ruled(right)) == "right"
    assert verdict(f, ruled(wrong)) == "wrong"


def test_lengths_that_need_not_be_alike_are_not():
    """A rule that is right for square matrices alone is wrong."""

    def rule(vertices, faces):
        y, back = areas_with(2)(vertices, faces)

        def back_for_as_many_faces(y_bar):
            _, bar, _ = back(y_bar)
            return NO, bar * (len(vertices) == 3 or len(faces) == len(vertices)), NO

        return y, back_for_as_many_faces

    assert verdict(areas, rule) == "wrong"


def test_where_nothing_is_found_it_is_said():
    def open_it(handle):
        return handle.read(1)[0].value

    with pytest.raises(NoInputsError, match="no arguments were found that open_it takes"):
        verdict(open_it, lambda handle: (1.0, lambda y_bar: (NO, NO)))


@pytest.mark.slow
def test_a_loop_without_end_ends_the_try():
    """Where most arguments let a loop go on for ever, the search goes on."""

    def halved(pairs):
        total = 0.0
        for a, b in pairs:
            while b:
                b = max(b - 0.5, 0.0) if isinstance(b, float) else b
            total += a
        return total

    def rule(pairs):
        return halved(pairs), lambda y_bar: (NO, [(y_bar, 0.0) for _ in pairs])

    assert verdict(halved, rule) == "right"


def area(heights, step=None):
    """By trapezoids."""
    if step is None:
        raise ValueError("the step is missing")
    return step * (heights.sum() - 0.5 * (heights[0] + heights[-1]))


@pytest.mark.first(1)
@pytest.mark.parametrize("share, word", [(0.5, "right"), (0.4, "wrong")])
def test_what_is_none_by_default_and_has_to_be_given_is_given(share, word):
    """A step that is missing, or one of several ways to say the same."""

    def rule(heights, step=None):
        def back(y_bar):
            bar = np.full(len(heights), step, float)
            for end in (0, -1):
                bar[end] -= share * step
            return NO, y_bar * bar, y_bar * area(heights, 1.0)

        return area(heights, step), back

    assert verdict(area, rule) == word
