"""Recognition of parts and trays in pictures from above, by drawings and pixels alone."""

from cellwright.perception.recognition.annotate import annotated
from cellwright.perception.recognition.model import RecognitionModel
from cellwright.perception.recognition.recognised import Recognised
from cellwright.perception.recognition.recogniser import OverheadRecogniser

__all__ = ["OverheadRecogniser", "Recognised", "RecognitionModel", "annotated"]
