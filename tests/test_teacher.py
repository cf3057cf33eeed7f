"""Teacher and student: what is chosen by validation data alone, what is refused and how."""

import pytest
import torch

from qkvlib.teacher import Student, _score, compare


def test_step_and_rate_are_chosen_without_a_look_at_the_test():
    """Two looks, two rates, one seed; on test data another choice would be best each time."""
    val = torch.tensor([[[0.1], [0.5]], [[0.4], [0.3]]])
    test = torch.tensor([[[0.9], [0.0]], [[0.2], [0.7]]])
    score = _score(val, test, own=torch.tensor([[1.0], [2.0]]), soft=torch.tensor([[3.0], [4.0]]),
                   rates=(0.01, 0.1))
    assert score.stopped == pytest.approx([0.9])  # first look, first rate
    assert score.last == pytest.approx([0.7]) and score.rate == [0.1]  # last look, second rate
    assert (score.train, score.rank) == ([2.0], [4.0])


@pytest.mark.parametrize("rank, student, message", [
    (0, Student(2), "the teacher has rank 0"), (25, Student(2), "the teacher has rank 25"),
    (2, Student(0), "mine has rank 0"), (2, Student(30), "mine has rank 30")])
def test_ranks_that_make_no_sense_are_refused(rank, student, message):
    with pytest.raises(ValueError, match=f"{message}; wanted 1 to 24"):
        compare({"mine": student}, rank=rank, count=20, seeds=[0])
